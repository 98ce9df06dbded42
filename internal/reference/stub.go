// Package reference finds what texts name.
package reference

// Context is one place where a text names a tool.
type Context struct {
	Line   string
	Before string
	After  string
}

// Texts is what a session's texts name.
type Texts struct{}

// Overflow reports whether the texts named more than is kept.
func (t *Texts) Overflow() bool { return false }
