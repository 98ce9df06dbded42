package locate

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"
)

// How much of a text must agree, in letters and digits.
const (
	enough      = 48 // for a place
	enoughNamed = 24 // in a file that the user has named
	clearly     = 12 // more than at any other place
	trivial     = 12 // less says nothing, even where it is all that the text has
	trivialGap  = 24 // the same where an interpolation stands for the name
)

// Bounds for one query. Where they are reached it has no place.
const (
	maxPlaces = 64  // of the sources, and of what is generated
	maxTries  = 256 // places that agree on more than a trivial part
)

// How many letters, in bytes, of a text point at a place to compare: fewer
// where there are no more.
const (
	wide   = 12
	narrow = 6
	few    = 3 // next to a name, before all the rest is compared
)

// query is one context of a name, asked once however many mentions have it.
type query struct {
	name          string
	letters       []byte // of the name
	line          string
	before, after []byte
	total         int // letters before and after
	tries         int
	lost          bool // a bound was reached
	sources       []place
	generated     []place
	traces        int // the most that agrees in a source, enough or not
}

// place is a line that may be the one.
type place struct {
	source
	line   int
	agree  int // letters
	need   int // letters that could agree: fewer where the source interpolates
	gap    bool
	whole  bool // the whole line is there, word for word
	spoken bool // the interpolation has the tool's name
}

// source is a file, with what its name says of it.
type source struct {
	file      string
	aside     bool // a test or a document
	generated bool
}

type kind byte

const (
	wholeLine kind = iota
	name
	gapFollows
	gapPrecedes
)

// anchor is a few letters of a query: where they stand in a file, the file is
// compared with what is around.
type anchor struct {
	query *query
	kind  kind
	back  int // from the end of the letters to where the line, the name or what is behind a gap starts
}

// window is the last letters of a text, twelve or six of them.
type window struct {
	high uint32
	low  uint64
}

func (w window) add(letter byte) window {
	return window{w.high<<8 | uint32(w.low>>56), w.low<<8 | uint64(letter)}
}

func (w window) narrow() window { return window{0, w.low & (1<<(8*narrow) - 1)} }

func (w window) hash() uint64 {
	return (w.low ^ uint64(w.high)*0xC2B2AE3D27D4EB4F) * 0x9E3779B97F4A7C15
}

type search struct {
	queries   map[question]*query
	anchors   map[window][]anchor
	anyNarrow bool
	filter    []uint64 // bits of the hashes of the anchors
	shift     uint
	file      folded
	hits      []hit
}

type question struct {
	tool    string
	context Context
}

type hit struct {
	letters window
	end     int32 // index in the file's letters
}

func newSearch(mentions []Mention) *search {
	s := &search{queries: map[question]*query{}, anchors: map[window][]anchor{}}
	for _, m := range mentions {
		for _, c := range m.Contexts {
			if _, known := s.queries[question{m.Tool, c}]; !known {
				s.ask(m.Tool, c)
			}
		}
	}
	bits := uint(12)
	for bits < 22 && 1<<bits < 32*len(s.anchors) {
		bits++
	}
	s.filter, s.shift = make([]uint64, 1<<bits/64), 64-bits
	for letters := range s.anchors {
		at := letters.hash() >> s.shift
		s.filter[at/64] |= 1 << (at % 64)
	}
	return s
}

func (s *search) ask(tool string, c Context) {
	q := &query{name: tool, letters: lettersOf(tool), line: strings.TrimSpace(c.Line), before: lettersOf(c.Before), after: lettersOf(c.After)}
	q.total = utf8.RuneCount(q.before) + utf8.RuneCount(q.after)
	s.queries[question{tool, c}] = q
	if len(q.letters) == 0 {
		return
	}
	s.anchorFirst(q, wholeLine, lettersOf(q.line))
	if len(q.letters) >= narrow {
		s.anchorLast(q, name, q.letters, len(q.letters))
	} else {
		s.anchorLast(q, name, slices.Concat(q.before, q.letters), len(q.letters))
		s.anchorFirst(q, name, slices.Concat(q.letters, q.after))
	}
	s.anchorLast(q, gapFollows, q.before, 0)
	s.anchorFirst(q, gapPrecedes, q.after)
}

// anchorFirst anchors a query at the first of the letters, and anchorLast at
// the last, where what they tell of starts so many letters before their end.
func (s *search) anchorFirst(q *query, k kind, letters []byte) {
	n := min(wide, len(letters))
	if n < wide {
		n = narrow
	}
	if len(letters) >= n {
		s.anchor(letters[:n], anchor{q, k, n})
	}
}

func (s *search) anchorLast(q *query, k kind, letters []byte, back int) {
	n := min(wide, len(letters))
	if n < wide {
		n = narrow
	}
	if len(letters) >= n {
		s.anchor(letters[len(letters)-n:], anchor{q, k, back})
	}
}

func (s *search) anchor(letters []byte, a anchor) {
	var w window
	for _, c := range letters {
		w = w.add(c)
	}
	s.anchors[w] = append(s.anchors[w], a)
	s.anyNarrow = s.anyNarrow || len(letters) == narrow
}

// look compares a file with all queries.
func (s *search) look(ctx context.Context, from source, text []byte) {
	if len(s.anchors) == 0 {
		return
	}
	s.hits = s.hits[:0]
	var last window
	note := func(w window, length int) {
		if at := w.hash() >> s.shift; s.filter[at/64]&(1<<(at%64)) != 0 {
			s.hits = append(s.hits, hit{w, int32(length)})
		}
	}
	s.file.fold(text, func(letter byte, length int) {
		last = last.add(letter)
		if note(last, length); s.anyNarrow {
			note(last.narrow(), length)
		}
	})
	for i, h := range s.hits {
		for j, a := range s.anchors[h.letters] {
			if (i+j)%64 == 0 && ctx.Err() != nil {
				return
			}
			if !a.query.lost {
				s.compare(a, int(h.end), from)
			}
		}
	}
}

// compare looks at what is around an anchor that ends at an index of the
// file's letters.
func (s *search) compare(a anchor, end int, from source) {
	q, f := a.query, &s.file
	start := end - a.back
	if start < 0 {
		return
	}
	switch a.kind {
	case wholeLine:
		if at, ok := f.wholeLine(q.line, start); ok {
			q.record(place{source: from, line: f.line(at), whole: true})
		}
	case name:
		end = start + len(q.letters)
		if f.spells(start, q) && (f.adjoins(start, q.before, -1, few) || f.adjoins(end, q.after, 1, few) || f.isApart(start, end)) {
			s.judge(q, start, end, place{source: from, line: f.line(f.start(start))})
		}
	case gapFollows:
		if at, to, spoken, ok := f.gapAfter(start, q); ok {
			s.judge(q, start, to, place{source: from, line: f.line(at), gap: true, spoken: spoken})
		}
	case gapPrecedes:
		if at, gap, spoken, ok := f.gapBefore(start, q); ok {
			s.judge(q, gap, start, place{source: from, line: f.line(at), gap: true, spoken: spoken})
		}
	}
}

// judge counts what agrees around a name, or what stands for it, between two
// indexes of the file's letters.
func (s *search) judge(q *query, start, end int, p place) {
	before, over := s.file.agree(start, q.before, -1)
	after, under := s.file.agree(end, q.after, 1)
	if p.gap && (before < min(narrow, utf8.RuneCount(q.before)) || after < min(narrow, utf8.RuneCount(q.after))) {
		return // what stands for the name is told by both its sides
	}
	p.agree, p.need = before+after, q.total-over-under
	if p.agree > trivial {
		q.tries++
		q.lost = q.lost || q.tries > maxTries
	}
	q.record(p)
}

// record keeps a place, once for each line.
func (q *query) record(p place) {
	list := &q.sources
	if p.generated {
		list = &q.generated
	} else {
		q.traces = max(q.traces, p.agree)
	}
	if !p.whole && p.agree < min(enoughNamed, q.total)/2 {
		return
	}
	for i := range *list {
		if known := &(*list)[i]; known.file == p.file && known.line == p.line {
			p.whole = p.whole || known.whole
			if known.agree > p.agree {
				p.agree, p.need, p.gap, p.spoken = known.agree, known.need, known.gap, known.spoken
			}
			*known = p
			return
		}
	}
	if len(*list) == maxPlaces {
		q.lost = q.lost || !p.generated
		return
	}
	*list = append(*list, p)
}

// places decides for each mention: its first context that has one place tells.
func (s *search) places(mentions []Mention, enough int) map[Key]Position {
	found := map[Key]Position{}
	for _, m := range mentions {
		for _, c := range m.Contexts {
			if p, ok := s.queries[question{m.Tool, c}].decide(enough); ok && canBeShown(p.file) {
				found[m.Key] = Position{p.file, p.line}
				break
			}
		}
	}
	return found
}

// decide returns the one place that has enough of the text, and clearly more
// than any other. What is generated counts where no source has a trace.
func (q *query) decide(enough int) (place, bool) {
	if q.lost {
		return place{}, false
	}
	places := q.sources
	if len(places) == 0 && q.traces < trivial {
		places = q.generated
	}
	wholes := 0
	for _, p := range places {
		if p.whole {
			wholes++
		}
	}
	margin := min(clearly, max(1, q.total/4))
	worth := func(p place) int {
		worth := p.agree
		if p.whole && wholes == 1 && !p.aside {
			worth += 2 * margin
		}
		if p.spoken {
			worth += margin
		}
		return worth
	}
	best := -1
	for i, p := range places {
		if p.isEnough(enough) && (best < 0 || worth(p) > worth(places[best])) {
			best = i
		}
	}
	if best < 0 {
		return place{}, false
	}
	for i, p := range places {
		if i == best {
			continue
		}
		if worth(p)+margin > worth(places[best]) {
			return place{}, false
		}
		// A document or a test may well repeat more of the text at once than
		// the source that puts it together.
		if places[best].aside && !p.aside && (p.whole || p.agree >= enough/2) {
			return place{}, false
		}
	}
	return places[best], true
}

func (p place) isEnough(enough int) bool {
	floor := trivial
	if p.gap {
		floor = trivialGap
		// It may stand for another name in the same sentence.
		if !p.spoken {
			enough += enough / 2
		}
	}
	return p.whole || p.agree >= max(floor, min(enough, p.need))
}
