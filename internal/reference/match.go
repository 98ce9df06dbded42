package reference

import (
	"iter"
	"slices"
	"strings"

	"github.com/org/mcpeval-guidance/internal/name"
)

// Listed is the tools that any session of a run lists: the known ones.
type Listed struct {
	known map[uint64]name.Name
	odd   map[string]bool // known names that may stand alone where they are no whole piece
}

// NewListed makes it of the known names.
func NewListed(names iter.Seq[name.Name]) *Listed {
	l := &Listed{known: map[uint64]name.Name{}, odd: map[string]bool{}}
	for n := range names {
		l.known[hashOf(string(n))] = n
		if Unmistakable(string(n)) && isOdd(string(n)) {
			l.odd[string(n)] = true
		}
	}
	return l
}

// Reference is a tool that a text names.
type Reference struct {
	Tool name.Name
	text *Text
	// The kinds of mention that count.
	code, words bool
	pairs       []int
	called      []int
}

// Places are the first places where the text names the tool, at most 8; none
// where the run keeps no surroundings.
func (r Reference) Places() []Context {
	return r.text.contexts(hashOf(string(r.Tool)), len(r.Tool), func(kind uint32) bool {
		return r.code && kind == inCode || r.words && kind == asWord ||
			slices.ContainsFunc(r.pairs, func(i int) bool { return kind == pairAt(i) }) ||
			slices.ContainsFunc(r.called, func(i int) bool { return kind == calledAt(i) })
	})
}

// Match returns the known tools that the text names, in no order: as inline
// code, and as unmistakable words where those count. A nil Text names none.
func (t *Text) Match(run *Listed, code, words bool) []Reference {
	if t == nil {
		return nil
	}
	index := map[name.Name]int{}
	var found []Reference
	of := func(tool name.Name) *Reference {
		i, ok := index[tool]
		if !ok {
			i = len(found)
			index[tool] = i
			found = append(found, Reference{Tool: tool, text: t})
		}
		return &found[i]
	}
	if code {
		for _, h := range t.code {
			if tool, ok := run.known[h]; ok {
				of(tool).code = true
			}
		}
	}
	if !words {
		return found
	}
	for _, h := range t.words {
		if tool, ok := run.known[h]; ok {
			of(tool).words = true
		}
	}
	for i, p := range t.pairs {
		tool, ok := run.known[p.name]
		if ok && run.isKnown(p.left) && run.isKnown(p.right) {
			r := of(tool)
			r.pairs = append(r.pairs, i)
		}
	}
	if len(run.odd) > 0 {
		for _, chunk := range t.odd {
			oddNames(chunk, func(s string) bool { _, ok := run.known[hashOf(s)]; return ok }, func(s string) { of(name.Name(s)).words = true })
		}
	}
	return found
}

// isKnown reports whether a neighbour's hash, 0 for none, is of a known name.
func (l *Listed) isKnown(h uint64) bool {
	_, ok := l.known[h]
	return ok || h == 0
}

// Descriptions yields the texts of the session's catalog, by tool.
func (t *Texts) Descriptions() iter.Seq2[name.Name, *Text] {
	return func(yield func(name.Name, *Text) bool) {
		for _, d := range t.tools {
			if !yield(d.name, &d.tool.Text) {
				return
			}
		}
	}
}

// Same reports whether two sessions' texts name the same: instructions word for
// word, descriptions by what they name.
func (t *Texts) Same(other *Texts) bool {
	if t == nil || other == nil {
		return t == other
	}
	return t.Instructions.Same(other.Instructions) && slices.EqualFunc(t.tools, other.tools, func(a, b described) bool {
		x, y := a.tool, b.tool
		return a.name == b.name && (x == y || x.key == y.key || slices.Equal(x.code, y.code) && slices.Equal(x.Text.words, y.Text.words) &&
			slices.Equal(x.pairs, y.pairs) && slices.Equal(x.called, y.called) && slices.Equal(x.odd, y.odd))
	})
}

// style is how the parts of a name are joined. A name that begins or ends with
// _, or has two of them side by side, is in none: get_ and get_old_* stand for
// many names.
type style int

const (
	noStyle style = iota
	snake
	kebab
	camel
	pascal
)

func styleOf(word string) style {
	var under, dash, upper bool
	for i := range len(word) {
		switch c := word[i]; {
		case c == '_':
			under = true
		case c == '-':
			dash = true
		case c >= 'A' && c <= 'Z':
			upper = true
		case c == '.' || c == ':':
			return noStyle
		}
	}
	switch {
	case under && !dash && !upper && areParts(word, "_"):
		return snake
	case dash && !under && !upper && areParts(word, "-"):
		return kebab
	case under || dash || !upper:
		return noStyle
	case word[0] >= 'A' && word[0] <= 'Z':
		return pascal
	}
	return camel
}

// areParts reports whether each joiner of a word joins two parts.
func areParts(word, joiner string) bool {
	return !strings.HasPrefix(word, joiner) && !strings.HasSuffix(word, joiner) && !strings.Contains(word, joiner+joiner)
}

// Called is a name that no session lists and that a text calls for as a tool.
type Called struct {
	Reference
	Of name.Name // whose description it is; empty for the instructions
}

// Unlisted returns the names that the session's texts call for as tools and
// that no session of the run lists (CONTRACT.md section 3.4). listed is this
// session's catalog; descriptions says whether those count, beside the
// instructions.
func (t *Texts) Unlisted(run *Listed, listed []name.Name, descriptions bool) []Called {
	if t == nil {
		return nil
	}
	common, firsts := house(listed)
	if common == noStyle || common == pascal {
		return nil
	}
	var found []Called
	var inSchemas map[uint64]bool // made when it is first asked
	isSchemaWord := func(h uint64) bool {
		if inSchemas == nil {
			inSchemas = t.schemaWords()
		}
		return inSchemas[h]
	}
	in := func(of name.Name, text *Text) {
		index := map[name.Name]int{}
		for i, c := range text.called {
			h := hashOf(string(c.name))
			_, isKnown := run.known[h]
			_, afterTool := run.known[c.before]
			if isKnown || afterTool || styleOf(string(c.name)) != common || firsts[firstPart(string(c.name))] < 2 {
				continue
			}
			k, ok := index[c.name]
			if !ok {
				if isSchemaWord(h) {
					continue
				}
				k = len(found)
				index[c.name] = k
				found = append(found, Called{Reference{Tool: c.name, text: text}, of})
			}
			found[k].called = append(found[k].called, i)
		}
	}
	if t.Instructions != nil {
		in("", t.Instructions)
	}
	if descriptions {
		for _, d := range t.tools {
			if !d.tool.acts {
				in(d.name, &d.tool.Text)
			}
		}
	}
	return found
}

// schemaWords are the names of properties and the values of enum and const in
// the session's input schemas.
func (t *Texts) schemaWords() map[uint64]bool {
	words := map[uint64]bool{}
	for _, d := range t.tools {
		for _, h := range d.tool.words {
			words[h] = true
		}
	}
	return words
}

// house returns the style that most of the names with two or more parts have,
// noStyle where none has most, and how many names begin with each first part.
func house(listed []name.Name) (common style, firsts map[string]int) {
	firsts = map[string]int{}
	counts := map[style]int{}
	total := 0
	for _, n := range listed {
		firsts[firstPart(string(n))]++
		if len(parts(string(n))) >= 2 {
			counts[styleOf(string(n))]++
			total++
		}
	}
	for s, n := range counts {
		if 2*n > total {
			return s, firsts
		}
	}
	return noStyle, firsts
}
