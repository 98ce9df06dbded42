package options

import (
	"fmt"
	"io"
)

// stars is what a Secret prints, whatever its length.
const stars = "***"

// Secret is a value that must never be printed: fmt, json and error texts get
// stars. Within an unexported field, where fmt cannot ask, it is an address.
type Secret struct{ value *string }

// NewSecret hides value.
func NewSecret(value string) Secret { return Secret{&value} }

// Reveal returns the value, for the one place that sends it.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// String returns stars.
func (Secret) String() string { return stars }

// GoString returns stars.
func (Secret) GoString() string { return stars }

// Format writes stars for every verb, %x and %q too.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, stars) }

// MarshalText returns stars.
func (Secret) MarshalText() ([]byte, error) { return []byte(stars), nil }

// Header is one HTTP header of the user's.
type Header struct {
	Name  string
	Value Secret
}
