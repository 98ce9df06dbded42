package render

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/protocol"
)

// InCommon says which of the run's sessions are in a set, by what they have in
// common and not one by one: just these, and all of them (CONTRACT.md section
// 6). Where profiles alone are compared, it lists the profiles.
func InCommon(m observe.Matrix, set observe.Set) string { return newSessions(m).inCommon(set) }

// everySession says the set of all sessions.
const everySession = "every session"

// sessions are a run's sessions by what they can have in common.
type sessions struct {
	matrix    observe.Matrix
	entries   []name.Name
	protocols []protocol.Version
	profiles  []profile.Profile
	// Each session's place in the lists above.
	byEntry, byProtocol, byProfile []observe.Set
	said                           map[observe.Set]string
}

// box is the sessions of some entries, some protocol versions and some
// profiles: a mask of each list.
type box struct {
	entries, protocols, profiles uint64
	set                          observe.Set
}

func newSessions(m observe.Matrix) *sessions {
	s := &sessions{matrix: m, said: map[observe.Set]string{}}
	for i, o := range m.Observations {
		s.byEntry = addTo(&s.entries, s.byEntry, o.Session.Entry, i)
		s.byProtocol = addTo(&s.protocols, s.byProtocol, o.Session.Protocol, i)
		s.byProfile = addTo(&s.profiles, s.byProfile, o.Session.Profile, i)
	}
	return s
}

func addTo[T comparable](values *[]T, sets []observe.Set, value T, session int) []observe.Set {
	at := slices.Index(*values, value)
	if at < 0 {
		at = len(*values)
		*values = append(*values, value)
		sets = append(sets, 0)
	}
	sets[at] = sets[at].With(session)
	return sets
}

// profilesOnly reports whether nothing but profiles differs.
func (s *sessions) profilesOnly() bool { return len(s.entries) == 1 && len(s.protocols) == 1 }

// word is what a session is called where nothing but profiles differs.
func (s *sessions) word() string {
	if s.profilesOnly() {
		return "profile"
	}
	return "session"
}

// inCommon is InCommon.
func (s *sessions) inCommon(set observe.Set) string {
	said, ok := s.said[set]
	if !ok {
		said = s.say(set)
		s.said[set] = said
	}
	return said
}

// within is the set in a sentence.
func (s *sessions) within(set observe.Set) string {
	if s.profilesOnly() && !set.Empty() {
		return "profile " + s.inCommon(set)
	}
	return s.inCommon(set)
}

// troubled is the set as the start of a sentence that is said once.
func (s *sessions) troubled(set observe.Set) string {
	if set == s.matrix.Everyone() && set.Len() > 1 && !s.profilesOnly() {
		return "every " + s.word()
	}
	return s.within(set)
}

func (s *sessions) say(set observe.Set) string {
	switch {
	case set.Empty() && s.profilesOnly():
		return "no selected profile"
	case set.Empty():
		return "no session"
	case s.profilesOnly():
		return s.list(full(len(s.profiles)), set)
	case set == s.matrix.Everyone():
		return everySession
	}
	cover := s.cover(set)
	said := s.sayAll(cover, ": "+everySession)
	if len(cover) > 1 {
		if rest := s.cover(s.matrix.Everyone() &^ set); len(rest) == 1 {
			if but := everySession + " except " + s.sayAll(rest, ""); len(but) < len(said) {
				return but
			}
		}
	}
	return said
}

// list writes the profiles of the mask that have a session in the set.
func (s *sessions) list(mask uint64, set observe.Set) string {
	var names []string
	for i, p := range s.profiles {
		if mask&(1<<i) != 0 && s.byProfile[i]&set != 0 {
			names = append(names, string(p))
		}
	}
	return strings.Join(names, ", ")
}

// sayAll writes boxes; whole stands behind one that has all profiles.
func (s *sessions) sayAll(boxes []box, whole string) string {
	var said []string
	for _, b := range boxes {
		var head []string
		if b.entries != full(len(s.entries)) {
			for i, entry := range s.entries {
				if b.entries&(1<<i) != 0 {
					head = append(head, "entry "+string(entry))
				}
			}
		}
		if b.protocols != full(len(s.protocols)) {
			for i, version := range s.protocols {
				if b.protocols&(1<<i) != 0 {
					head = append(head, string(version))
				}
			}
		}
		profiles := s.list(b.profiles, s.matrix.Everyone())
		switch {
		case b.profiles == full(len(s.profiles)):
			said = append(said, strings.Join(head, ", ")+whole)
		case len(head) == 0:
			said = append(said, "profile "+profiles+whole)
		default:
			said = append(said, strings.Join(head, ", ")+": "+profiles)
		}
	}
	return strings.Join(said, "; ")
}

func full(n int) uint64 { return 1<<n - 1 }

// cover returns boxes of sessions that together are the set: each time the
// one that has the most of what is left, and of those the one that takes the
// fewest words.
func (s *sessions) cover(set observe.Set) []box {
	var cover []box
	boxes := s.boxesIn(set)
	for left := set; !left.Empty(); {
		var best box
		for _, b := range boxes {
			if s.better(b, best, left) {
				best = b
			}
		}
		cover = append(cover, best)
		left &^= best.set
	}
	slices.SortFunc(cover, func(a, b box) int { return cmp.Compare(a.set.First(), b.set.First()) })
	return cover
}

func (s *sessions) better(a, b box, left observe.Set) bool {
	if by := cmp.Compare((a.set & left).Len(), (b.set & left).Len()); by != 0 {
		return by > 0
	}
	return s.words(a) < s.words(b)
}

// words is how many values a box is said with: all entries, versions or
// profiles need none.
func (s *sessions) words(b box) (n int) {
	for _, part := range []struct {
		mask uint64
		of   int
	}{{b.entries, len(s.entries)}, {b.protocols, len(s.protocols)}, {b.profiles, len(s.profiles)}} {
		if part.mask != full(part.of) {
			n += bits.OnesCount64(part.mask)
		}
	}
	return n
}

// boxesIn returns the boxes that hold no session outside the set: for each
// choice of protocol versions and profiles, all entries that fit.
func (s *sessions) boxesIn(set observe.Set) []box {
	var boxes []box
	for protocols := uint64(1); protocols <= full(len(s.protocols)); protocols++ {
		inProtocols := union(s.byProtocol, protocols)
		for profiles := uint64(1); profiles <= full(len(s.profiles)); profiles++ {
			in := inProtocols & union(s.byProfile, profiles)
			b := box{protocols: protocols, profiles: profiles}
			for i, of := range s.byEntry {
				if part := of & in; part&^set == 0 {
					b.entries |= 1 << i
					b.set |= part
				}
			}
			if b.set != 0 {
				boxes = append(boxes, b)
			}
		}
	}
	return boxes
}

func union(sets []observe.Set, mask uint64) (all observe.Set) {
	for i, set := range sets {
		if mask&(1<<i) != 0 {
			all |= set
		}
	}
	return all
}

func count(n int, thing string) string { return fmt.Sprintf("%d %s", n, pick(n, thing, thing+"s")) }

func pick(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
