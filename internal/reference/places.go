package reference

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of the surroundings that are kept of a place.
const (
	radius    = 480 // bytes of text kept on each side of a name
	maxLine   = 400 // bytes of a line that is told whole
	maxAround = 96  // letters and digits on each side
)

// Context is one place where a text names a tool. It is for finding the line in
// the user's repository and must go nowhere else.
type Context struct {
	Line   string // the whole line of the text, without its end; empty where it is long
	Before string // up to 96 letters and digits that precede the name, across lines, all other characters left out
	After  string // the same, after the name
}

// place is where a mention stands: the name's hash, where it begins in the
// texts of its Text, laid end to end, and what kind of mention it is.
type place struct {
	name uint64
	at   uint32
	kind uint32
}

// excerpt is a part of a text that holds places.
type excerpt struct {
	at    uint32 // where it begins, as a place's
	text  string
	first bool // it begins where the text does
	last  bool // it ends where the text does
}

// excerpts keeps the surroundings of the spots of one text, where there is room
// for them.
func (b *builder) excerpts(text string) {
	if len(b.spots) == 0 {
		return
	}
	slices.SortFunc(b.spots, func(p, q place) int { return cmp.Compare(p.at, q.at) })
	budget := maxTextAround
	for i := 0; i < len(b.spots); {
		start := max(0, int(b.spots[i].at)-radius)
		end, j := start, i
		for j < len(b.spots) && int(b.spots[j].at)-radius <= end {
			end = min(len(text), int(b.spots[j].at)+2*radius)
			j++
		}
		for start > 0 && start < len(text) && !utf8.RuneStart(text[start]) {
			start++
		}
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end--
		}
		if budget -= end - start; budget < 0 || b.x.around.Add(int64(end-start)) > maxSurrounding {
			break
		}
		b.tool.around = append(b.tool.around, excerpt{uint32(b.base + start), strings.Clone(text[start:end]), start == 0, end == len(text)})
		for _, spot := range b.spots[i:j] {
			b.tool.places = append(b.tool.places, place{spot.name, uint32(b.base) + spot.at, spot.kind})
		}
		i = j
	}
	b.spots = b.spots[:0]
}

// contexts returns the surroundings of the places of a name whose kind counts.
func (t *Text) contexts(hash uint64, length int, counts func(kind uint32) bool) (contexts []Context) {
	from, _ := slices.BinarySearchFunc(t.places, hash, func(p place, h uint64) int { return cmp.Compare(p.name, h) })
	var last uint32
	for _, p := range t.places[from:] {
		if p.name != hash || len(contexts) == maxPlaces {
			break
		}
		// One place may be a mention of two kinds.
		if !counts(p.kind) || len(contexts) > 0 && p.at == last {
			continue
		}
		i, exact := slices.BinarySearchFunc(t.around, p.at, func(e excerpt, at uint32) int { return cmp.Compare(e.at, at) })
		if !exact {
			i--
		}
		if i < 0 || int(p.at-t.around[i].at)+length > len(t.around[i].text) {
			continue
		}
		contexts, last = append(contexts, t.around[i].context(int(p.at-t.around[i].at), length)), p.at
	}
	return contexts
}

func (e excerpt) context(at, length int) Context {
	before, after := e.text[:at], e.text[at+length:]
	c := Context{Before: lastLetters(before), After: firstLetters(after)}
	start := strings.LastIndexAny(before, "\r\n") + 1
	end := strings.IndexAny(after, "\r\n")
	if (start > 0 || e.first) && (end >= 0 || e.last) {
		if end < 0 {
			end = len(after)
		}
		if line := e.text[start : at+length+end]; len(line) <= maxLine {
			c.Line = line
		}
	}
	return c
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func firstLetters(text string) string {
	var out strings.Builder
	n := 0
	for _, r := range text {
		if n == maxAround {
			break
		}
		if isLetter(r) {
			out.WriteRune(r)
			n++
		}
	}
	return out.String()
}

func lastLetters(text string) string {
	var runes []rune
	for len(text) > 0 && len(runes) < maxAround {
		r, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
		if isLetter(r) {
			runes = append(runes, r)
		}
	}
	slices.Reverse(runes)
	return string(runes)
}
