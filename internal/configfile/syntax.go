package configfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// MaxBytes bounds a file; real ones have a few KiB (CONTRACT.md section 9).
const MaxBytes = 1 << 20

// maxNodes bounds objects and lists together, and so how deep they nest:
// hujson recurses without a limit of its own.
const maxNodes = 10000

// readRegular reads a file that people edit: no pipe, which might never end.
func readRegular(path string) ([]byte, error) {
	// Without the flag, opening a pipe waits for its other end.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errors.New("there is no such file")
	}
	if err != nil {
		return nil, errors.New("the file cannot be opened")
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("is no regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	switch {
	case err != nil:
		return nil, errors.New("the file cannot be read")
	case len(data) > MaxBytes:
		return nil, errors.New("the file has more than 1 MiB")
	case !utf8.Valid(data):
		return nil, errors.New("the file is not UTF-8: save it with that encoding")
	}
	return bytes.TrimPrefix(data, []byte("\ufeff")), nil
}

// inside checks that a path, links followed, does not leave the confines. What
// does not exist is inside: opening it says so.
func (f *File) inside(path string) error {
	if f.confine == "" {
		return nil
	}
	confine, err := filepath.EvalSymlinks(f.confine)
	if err != nil {
		return errors.New("the workspace cannot be read")
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	relative, relErr := filepath.Rel(confine, real)
	if err != nil || relErr != nil || !filepath.IsLocal(relative) {
		return errors.New("must stay inside the workspace")
	}
	return nil
}

// node is a value with its line, from 1. The zero node is an absent one.
type node struct {
	value hujson.ValueTrimmed
	line  int
	data  []byte
}

type member struct {
	key  string
	line int
	node node
}

type object []member

// parse reads JSON with comments and trailing commas.
func parse(data []byte) (node, error) {
	end := len(bytes.TrimRight(data, " \t\r\n"))
	if end == 0 {
		return node{}, errors.New("the file is empty")
	}
	if bytes.Count(data, []byte("{"))+bytes.Count(data, []byte("[")) > maxNodes {
		return node{}, fmt.Errorf("the file has more than %d objects and lists", maxNodes)
	}
	// hujson wants a line's end after a comment, where editors leave none.
	value, err := hujson.Parse(append(data[:len(data):len(data)], '\n'))
	if err != nil {
		line := lineAt(data, end)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			// The line is nowhere else, and the rest may hold a value.
			_, _ = fmt.Sscanf(err.Error(), "hujson: line %d,", &line)
			return node{}, fmt.Errorf("line %d: not JSON", line)
		}
		return node{}, fmt.Errorf("line %d: not JSON: the file ends before its last object, list, string or comment does", line)
	}
	root := node{value.Value, lineAt(data, value.StartOffset), data}
	return root, root.unrepeated()
}

func lineAt(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(offset, len(data))], []byte("\n"))
}

func (n node) child(v hujson.Value) node {
	return node{v.Value, lineAt(n.data, v.StartOffset), n.data}
}

// unrepeated refuses an object that has one key twice, at any depth: of two
// values, readers take either.
func (n node) unrepeated() error {
	switch v := n.value.(type) {
	case *hujson.Object:
		seen := map[string]bool{}
		for _, m := range v.Members {
			key := m.Name.Value.(hujson.Literal).String()
			if seen[key] {
				return fmt.Errorf("line %d: the key %s is there twice", lineAt(n.data, m.Name.StartOffset), safe(key))
			}
			seen[key] = true
			if err := n.child(m.Value).unrepeated(); err != nil {
				return err
			}
		}
	case *hujson.Array:
		for _, element := range v.Elements {
			if err := n.child(element).unrepeated(); err != nil {
				return err
			}
		}
	}
	return nil
}

// absent reports whether there is no value, or null.
func (n node) absent() bool {
	return n.value == nil || n.value.Kind() == 'n'
}

// kind says in words what a value is.
func (n node) kind() string {
	switch n.value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return "true or false"
}

func (n node) wrong(path, want string) error {
	return fmt.Errorf("line %d: %s must be %s, not %s", n.line, path, want, n.kind())
}

func (n node) object(path string) (object, error) {
	v, ok := n.value.(*hujson.Object)
	if !ok {
		return nil, n.wrong(path, "an object")
	}
	members := make(object, len(v.Members))
	for i, m := range v.Members {
		members[i] = member{m.Name.Value.(hujson.Literal).String(), lineAt(n.data, m.Name.StartOffset), n.child(m.Value)}
	}
	return members, nil
}

func (n node) list(path string) ([]node, error) {
	v, ok := n.value.(*hujson.Array)
	if !ok {
		return nil, n.wrong(path, "a list")
	}
	elements := make([]node, len(v.Elements))
	for i, element := range v.Elements {
		elements[i] = n.child(element)
	}
	return elements, nil
}

func (n node) text() (string, bool) {
	if n.value == nil || n.value.Kind() != '"' {
		return "", false
	}
	return n.value.(hujson.Literal).String(), true
}

// string is a value that must be a string without NUL, which neither commands
// nor variables can have.
func (n node) string(path string) (string, error) {
	text, ok := n.text()
	switch {
	case !ok && n.value.Kind() == '0':
		return "", fmt.Errorf("line %d: %s must be a string, not a number: write it in quotes", n.line, path)
	case !ok:
		return "", n.wrong(path, "a string")
	case strings.ContainsRune(text, 0):
		return "", fmt.Errorf("line %d: %s has a NUL character", n.line, path)
	}
	return text, nil
}

// get returns the member of that key, absent where there is none.
func (o object) get(key string) node {
	for _, m := range o {
		if m.key == key {
			return m.node
		}
	}
	return node{}
}
