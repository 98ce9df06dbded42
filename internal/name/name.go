// Package name has the grammar of labels and tool names. A Name is the only
// text of a server that may leave: what is not of the grammar is never made
// one.
package name

import "strings"

// MaxBytes is the length of the longest name.
const MaxBytes = 128

// Grammar says in words what Valid accepts.
const Grammar = "1 to 128 characters out of A-Z a-z 0-9 _ . : -"

// Name is a label or a tool name of the grammar (CONTRACT.md sections 2 and
// 4.3).
type Name string

// Valid reports whether s is of the grammar.
func Valid(s string) bool {
	if len(s) == 0 || len(s) > MaxBytes {
		return false
	}
	for i := range len(s) {
		if !IsPart(s[i]) {
			return false
		}
	}
	return true
}

// IsPart reports whether a byte may stand in a name.
func IsPart(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return true
	}
	return c == '_' || c == '.' || c == ':' || c == '-'
}

// Parse returns s as a name where it is of the grammar.
func Parse(s string) (Name, bool) {
	if !Valid(s) {
		return "", false
	}
	return Name(s), true
}

// Label makes a name out of any text: each run of characters outside the
// grammar becomes one -, and the whole is cut at MaxBytes (CONTRACT.md section
// 3.3). The label of an empty text is empty.
func Label(text string) Name {
	var out strings.Builder
	inRun := false
	for i := range len(text) {
		if out.Len() == MaxBytes {
			break
		}
		if !IsPart(text[i]) {
			if !inRun {
				out.WriteByte('-')
			}
			inRun = true
			continue
		}
		inRun = false
		out.WriteByte(text[i])
	}
	return Name(out.String())
}
