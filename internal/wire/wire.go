// Package wire makes the JSON reports out of a result. A report's structs are
// frozen: a released version never gets another key, and what is to be said
// beyond it belongs to the next version. It must never hold what a report does
// not print.
package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/xeipuuv/gojsonschema"

	"github.com/org/mcpeval-guidance/internal/result"
)

// maxBlock is how many elements of a list are validated at a time: a report may
// have 200,000 findings, whose decoded form would take several times the
// memory that a run may use (CONTRACT.md section 4.4).
const maxBlock = 1000

// InvalidError is a report that breaks its own schema: an internal error. It
// holds the rule that broke and where, in the schema's own words.
type InvalidError struct{ Rule string }

func (e *InvalidError) Error() string { return "the report breaks its own schema: " + e.Rule }

// Write validates the result's report against its schema and writes it: v1
// wherever v1 can say the run, else v2 (CONTRACT.md section 3). It is made in
// one pass and never whole in memory. Nothing is written of a report that fails
// validation, which is an *InvalidError; any other error is w's.
func Write(w io.Writer, r result.Result) error {
	d := documentOf(r)
	if err := d.validate(); err != nil {
		return err
	}
	return d.print(w)
}

func documentOf(r result.Result) document {
	if r.AsV1 {
		return v1(r)
	}
	return v2(r)
}

// document is a report as it is printed: an object whose last members are
// lists of many elements.
type document struct {
	schema func() (*gojsonschema.Schema, error)
	head   any // a struct with the members before the lists
	lists  []list
}

// list is one member of a document, in one piece or many.
type list struct {
	key     string
	length  int
	element func(i int) any
	// light is an element that may stand for any other where only what is
	// beside it is judged; nil: the list's first block does.
	light func(i int) any
	// witness is the index of an element that the document as a whole must
	// have, so that every part of it is valid by itself; -1 for none.
	witness int
}

func compiled(text []byte) func() (*gojsonschema.Schema, error) {
	return sync.OnceValues(func() (*gojsonschema.Schema, error) {
		return gojsonschema.NewSchema(gojsonschema.NewBytesLoader(text))
	})
}

// print writes the document.
func (d document) print(w io.Writer) error {
	out := bufio.NewWriter(w)
	head, err := encode(d.head, "", "  ")
	if err != nil {
		return &InvalidError{"it cannot be encoded"}
	}
	out.Write(bytes.TrimSuffix(head, []byte("\n}\n")))
	for _, l := range d.lists {
		fmt.Fprintf(out, ",\n  %q: ", l.key)
		if l.length == 0 {
			out.WriteString("[]")
			continue
		}
		separator := "[\n    "
		for i := range l.length {
			element, err := encode(l.element(i), "    ", "  ")
			if err != nil {
				return &InvalidError{"it cannot be encoded"}
			}
			out.WriteString(separator)
			if _, err := out.Write(bytes.TrimSuffix(element, []byte("\n"))); err != nil {
				return err
			}
			separator = ",\n    "
		}
		out.WriteString("\n  ]")
	}
	out.WriteString("\n}\n")
	return out.Flush()
}

// validate holds the document against its schema. One that is small is
// validated as it is printed; of a large one, each list block by block, with
// the others' light elements beside it, printed as the whole would be.
func (d document) validate() error {
	blocks := 1
	for _, l := range d.lists {
		blocks = max(blocks, (l.length+l.block()-1)/l.block())
	}
	for i := range blocks {
		if err := d.part(i).check(); err != nil {
			return err
		}
	}
	return nil
}

// block is how many elements are validated at a time.
func (l list) block() int {
	if l.light != nil {
		return heavyBlock
	}
	return maxBlock
}

// heavyBlock is how many elements with lists of their own are validated at a
// time: five sessions may have 50,000 names.
const heavyBlock = 5

// part is the document with the i-th block of each list.
func (d document) part(i int) document {
	part := document{schema: d.schema, head: d.head}
	for _, l := range d.lists {
		at := []int{}
		for k := i * l.block(); k < min(l.length, (i+1)*l.block()); k++ {
			at = append(at, k)
		}
		element := l.element
		if len(at) == 0 && l.light != nil {
			element = l.light
			for k := range min(l.length, heavyBlock) {
				at = append(at, k)
			}
		}
		if l.witness >= 0 && !slices.Contains(at, l.witness) {
			at = append(at, l.witness)
		}
		part.lists = append(part.lists, list{key: l.key, length: len(at), element: func(k int) any { return element(at[k]) }, witness: -1})
	}
	return part
}

// check validates the document as it is printed.
func (d document) check() error {
	var text bytes.Buffer
	if err := d.print(&text); err != nil {
		return err
	}
	rules, err := d.schema()
	if err != nil {
		return &InvalidError{"the schema cannot be read"}
	}
	judged, err := rules.Validate(gojsonschema.NewBytesLoader(text.Bytes()))
	switch {
	case err != nil:
		return &InvalidError{"it is not JSON"}
	case !judged.Valid():
		return &InvalidError{broken(judged.Errors())}
	}
	return nil
}

// broken names the rule that broke: the schema's keyword and the keys that
// lead to the place, without any value.
func broken(errs []gojsonschema.ResultError) string {
	deepest := errs[0]
	for _, e := range errs {
		if strings.Count(e.Context().String("/"), "/") > strings.Count(deepest.Context().String("/"), "/") {
			deepest = e
		}
	}
	return deepest.Type() + " at " + deepest.Context().String("/")
}

func encode(value any, prefix, indent string) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent(prefix, indent)
	err := encoder.Encode(value)
	return out.Bytes(), err
}

// IsInvalid returns the rule that broke where err is a report that breaks its
// own schema.
func IsInvalid(err error) (rule string, ok bool) {
	var invalid *InvalidError
	if errors.As(err, &invalid) {
		return invalid.Rule, true
	}
	return "", false
}
