// Package observe is the model of what was seen: sessions, what each of them
// listed, and what its texts name. It must never hold a word of a server that
// is not a validated name, but for the places that find a line in the user's
// own repository, and it judges nothing.
package observe

import (
	"iter"
	"maps"
	"math/bits"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/protocol"
	"github.com/org/mcpeval-guidance/internal/reference"
)

// MaxSessions is how many sessions one run may have (CONTRACT.md section 2).
const MaxSessions = 60

// Session is what one client sees: a configuration of the server, a protocol
// version and a capability profile. It is the only key of observations.
type Session struct {
	Entry    name.Name // the entry's label; empty where no configuration file was given
	Protocol protocol.Version
	Profile  profile.Profile
}

// Observation is what discovery learned of one session: a catalog and what
// its texts name, or one diagnosis.
type Observation struct {
	Session         Session
	Tools           []name.Name          // sorted, unique; nil when incomplete
	HasInstructions bool                 // any string, the empty one too
	Characters      int                  // of the instructions
	Texts           *reference.Texts     // what its texts name; nil when incomplete
	NoTools         bool                 // complete, but the tools capability is not declared
	Noise           int                  // lines on stdout that were no MCP messages
	Diagnosis       *diagnosis.Diagnosis // nil when complete
}

// Complete reports whether the session was fully discovered.
func (o Observation) Complete() bool { return o.Diagnosis == nil }

// Set is a set of a run's sessions, by their index.
type Set uint64

// Has reports whether the session of that index is in the set.
func (s Set) Has(i int) bool { return s&(1<<i) != 0 }

// With returns the set and the session of that index.
func (s Set) With(i int) Set { return s | 1<<i }

// Len returns the number of sessions in the set.
func (s Set) Len() int { return bits.OnesCount64(uint64(s)) }

// Empty reports whether there is no session in the set.
func (s Set) Empty() bool { return s == 0 }

// First returns the lowest index, -1 in an empty set.
func (s Set) First() int {
	if s == 0 {
		return -1
	}
	return bits.TrailingZeros64(uint64(s))
}

// All yields the indexes in ascending order.
func (s Set) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for ; s != 0; s &= s - 1 {
			if !yield(bits.TrailingZeros64(uint64(s))) {
				return
			}
		}
	}
}

// Matrix is what every session of a run saw, with the sessions that list each
// tool. It is built once.
type Matrix struct {
	Observations []Observation // in the run's order
	listed       map[name.Name]Set
	names        *reference.Listed
	complete     bool
}

// NewMatrix builds the matrix of a run's observations, at most MaxSessions.
func NewMatrix(observations []Observation) Matrix {
	m := Matrix{Observations: observations, listed: map[name.Name]Set{}, complete: true}
	for i, o := range observations {
		m.complete = m.complete && o.Complete()
		for _, tool := range o.Tools {
			m.listed[tool] = m.listed[tool].With(i)
		}
	}
	m.names = reference.NewListed(maps.Keys(m.listed))
	return m
}

// Names are the tools that any session lists, as texts are matched with them.
func (m Matrix) Names() *reference.Listed { return m.names }

// Complete reports whether every session was fully discovered.
func (m Matrix) Complete() bool { return m.complete }

// Everyone is the set of all sessions.
func (m Matrix) Everyone() Set { return Set(1)<<len(m.Observations) - 1 }

// Listing returns the sessions whose catalog has the tool; none for a name
// that is not known.
func (m Matrix) Listing(tool name.Name) Set { return m.listed[tool] }

// Known yields the tools that any session lists, in no order, with those that
// do.
func (m Matrix) Known() iter.Seq2[name.Name, Set] {
	return func(yield func(name.Name, Set) bool) {
		for tool, set := range m.listed {
			if !yield(tool, set) {
				return
			}
		}
	}
}
