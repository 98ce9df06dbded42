package locate

import (
	"context"
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
	maxPlaces = 64   // of the sources, and of what is generated
	maxTries  = 2000 // places compared
)

// width is how many letters, in bytes, of a text point at a place to compare.
const width = 6

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

type side byte

const (
	lineStarts side = iota
	nameFollows
	namePrecedes
)

// anchor is a few letters of a query: where they stand in a file, it is
// compared with what is around.
type anchor struct {
	query *query
	side  side
}

type search struct {
	queries map[question]*query
	anchors map[uint64][]anchor
	filter  []uint64 // bits of the hashes of the anchors
	shift   uint
	file    folded
	hits    []hit
}

type question struct {
	tool    string
	context Context
}

type hit struct {
	letters uint64
	end     int32 // index in the file's letters
}

func newSearch(mentions []Mention) *search {
	s := &search{queries: map[question]*query{}, anchors: map[uint64][]anchor{}}
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
		at := s.hash(letters)
		s.filter[at/64] |= 1 << (at % 64)
	}
	return s
}

func (s *search) hash(letters uint64) uint64 { return letters * 0x9E3779B97F4A7C15 >> s.shift }

func (s *search) ask(tool string, c Context) {
	q := &query{name: tool, letters: lettersOf(tool), line: strings.TrimSpace(c.Line), before: lettersOf(c.Before), after: lettersOf(c.After)}
	q.total = utf8.RuneCount(q.before) + utf8.RuneCount(q.after)
	s.queries[question{tool, c}] = q
	if len(q.letters) == 0 {
		return
	}
	s.anchor(q, lettersOf(q.line), lineStarts)
	s.anchor(q, q.before[max(0, len(q.before)-width):], nameFollows)
	s.anchor(q, q.after, namePrecedes)
}

func (s *search) anchor(q *query, letters []byte, where side) {
	if len(letters) < width {
		return
	}
	var key uint64
	for _, c := range letters[:width] {
		key = key<<8 | uint64(c)
	}
	s.anchors[key] = append(s.anchors[key], anchor{q, where})
}

// look compares a file with all queries.
func (s *search) look(ctx context.Context, from source, text []byte) {
	if len(s.anchors) == 0 {
		return
	}
	s.hits = s.hits[:0]
	var key uint64
	s.file.fold(text, func(letter byte, length int) {
		key = (key<<8 | uint64(letter)) & (1<<(8*width) - 1)
		if at := s.hash(key); s.filter[at/64]&(1<<(at%64)) != 0 && length >= width {
			s.hits = append(s.hits, hit{key, int32(length)})
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
	switch a.side {
	case lineStarts:
		if at, ok := f.wholeLine(q.line, f.start(end-width)); ok {
			q.record(place{source: from, line: f.line(at), whole: true})
		}
	case nameFollows:
		if to := end + len(q.letters); f.spells(end, q) {
			s.judge(q, end, to, place{source: from, line: f.line(f.start(end))})
		} else if !f.adjoins(end, q.before, -1) {
			return
		} else if at, to, spoken, ok := f.gapAfter(end, q); ok {
			s.judge(q, end, to, place{source: from, line: f.line(at), gap: true, spoken: spoken})
		}
	case namePrecedes:
		end -= width
		if start := end - len(q.letters); start >= 0 && f.spells(start, q) {
			s.judge(q, start, end, place{source: from, line: f.line(f.start(start))})
		} else if !f.adjoins(end, q.after, 1) {
			return
		} else if at, start, spoken, ok := f.gapBefore(end, q); ok {
			s.judge(q, start, end, place{source: from, line: f.line(at), gap: true, spoken: spoken})
		}
	}
}

// judge counts what agrees around a name, or what stands for it, between two
// indexes of the file's letters.
func (s *search) judge(q *query, start, end int, p place) {
	if q.tries++; q.tries > maxTries {
		q.lost = true
		return
	}
	before, over := s.file.agree(start, q.before, -1)
	after, under := s.file.agree(end, q.after, 1)
	if p.gap && (before < min(width, utf8.RuneCount(q.before)) || after < min(width, utf8.RuneCount(q.after))) {
		return // what stands for the name is told by both its sides
	}
	p.agree, p.need = before+after, q.total-over-under
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
		if places[best].aside && !p.aside && p.isEnough(enough) {
			return place{}, false
		}
	}
	return places[best], true
}

func (p place) isEnough(enough int) bool {
	floor := trivial
	if p.gap {
		floor = trivialGap
	}
	return p.whole || p.agree >= max(floor, min(enough, p.need))
}
