package reference

import (
	"cmp"
	"slices"
	"strings"

	"github.com/org/mcpeval-guidance/internal/name"
)

// builder reads the texts of one Text.
type builder struct {
	x     *Extractor
	tool  Tool
	seen  map[uint64]uint8 // by mention, how many places it has
	spots []place          // of the text that is being read
	base  int              // where that text begins in the places' count
	full  bool             // more mentions than one text may have
}

func (b *builder) reset() {
	clear(b.seen)
	*b = builder{x: b.x, seen: b.seen, spots: b.spots[:0]}
}

// span is a line's text, without the marks of lists and quotes before it.
type span struct{ start, end int }

// noSpan stands for a neighbouring line of another paragraph.
var noSpan = span{-1, -1}

// add reads one text: its lines once for inline code, each paragraph once
// more for padded code, its lines once for words.
func (b *builder) add(text string) {
	var blocks blockReader
	paragraph := span{0, 0}
	ticks := 0                     // in the paragraph so far
	before, held := noSpan, noSpan // the lines whose words come next: the one after it must be known
	code := func(at int) func(start, end int) {
		return func(start, end int) { b.code(text, at+start, at+end) }
	}
	for start, end := range lines(text) {
		skip, kind := blocks.next(text[start:end])
		line := span{start + skip, end}
		if kind != goesOn {
			if ticks > 1 {
				paddedCode(text[paragraph.start:paragraph.end], code(paragraph.start))
			}
			if held != noSpan {
				b.words(text, before, held, noSpan)
			}
			paragraph, ticks = line, 0
			before, held = noSpan, noSpan
		}
		if kind == noText {
			paragraph.end = paragraph.start
			continue
		}
		paragraph.end = end
		if n := strings.Count(text[line.start:end], "`"); n > 0 {
			ticks += n
			if n > 1 {
				plainCode(text[line.start:end], code(line.start))
			}
		}
		if held != noSpan {
			b.words(text, before, held, line)
		}
		before, held = held, line
	}
	if ticks > 1 {
		paddedCode(text[paragraph.start:paragraph.end], code(paragraph.start))
	}
	if held != noSpan {
		b.words(text, before, held, noSpan)
	}
	b.excerpts(text)
	b.base += len(text) + 1
}

// The kinds of a place; pairs and called words have theirs after these.
const (
	inCode uint32 = iota
	asWord
	firstIndexed
)

// pairAt and calledAt are the kinds of the i-th pair and called word.
func pairAt(i int) uint32   { return firstIndexed + 2*uint32(i) }
func calledAt(i int) uint32 { return firstIndexed + 2*uint32(i) + 1 }

// Salts keep mentions of one name in several forms apart.
const (
	codeSalt   = 0x9e3779b97f4a7c15
	wordSalt   = 0
	pairSalt   = 0xc2b2ae3d27d4eb4f
	calledSalt = 0x165667b19e3779f9
)

// mix makes one hash of two.
func mix(a, b uint64) uint64 { return (a ^ b>>29 ^ b<<35) * 0x9fb21c651e98df25 }

// mention counts a mention and reports whether it is the first of its kind, and
// whether a place of it is still wanted. counts says that a finding may rest on
// it: then one that has no room is lost.
func (b *builder) mention(key uint64, counts bool) (first, wanted bool) {
	n := b.seen[key]
	if n == 0 && len(b.seen) >= maxMentions {
		b.full = b.full || counts
		return false, false
	}
	if n == 0 && !counts && len(b.seen) >= maxMentions/2 {
		return false, false
	}
	if n < maxPlaces {
		b.seen[key] = n + 1
	}
	return n == 0, n < maxPlaces && b.x.want.Places
}

func (b *builder) code(text string, start, end int) {
	s := text[start:end]
	if !name.Valid(s) {
		return
	}
	h := hashOf(s)
	first, wanted := b.mention(h^codeSalt, true)
	if first {
		b.tool.code = append(b.tool.code, h)
	}
	if wanted {
		b.spots = append(b.spots, place{h, uint32(start), inCode})
	}
}

func (b *builder) word(h uint64, at int) {
	first, wanted := b.mention(h^wordSalt, b.x.want.Words)
	if first {
		b.tool.Text.words = append(b.tool.Text.words, h)
	}
	if wanted {
		b.spots = append(b.spots, place{h, uint32(at), asWord})
	}
}

func (b *builder) pair(p pair, at int) {
	first, wanted := b.mention(mix(mix(p.name, p.left), p.right)^pairSalt, b.x.want.Words)
	if first {
		b.tool.pairs = append(b.tool.pairs, p)
	}
	if first && wanted {
		b.spots = append(b.spots, place{p.name, uint32(at), pairAt(len(b.tool.pairs) - 1)})
	}
}

func (b *builder) calledFor(s string, h, before uint64, at int) {
	first, wanted := b.mention(mix(h, before)^calledSalt, true)
	if first {
		b.tool.called = append(b.tool.called, called{name.Name(strings.Clone(s)), before})
	}
	if first && wanted {
		b.spots = append(b.spots, place{h, uint32(at), calledAt(len(b.tool.called) - 1)})
	}
}

func (b *builder) oddChunk(chunk string) {
	if first, _ := b.mention(mix(hashOf(chunk), pairSalt), b.x.want.Words); !first {
		return
	}
	if b.x.odd.Add(int64(len(chunk))) > maxOdd {
		b.x.oddLost.Store(true)
		return
	}
	b.tool.odd = append(b.tool.odd, strings.Clone(chunk))
}

// finish returns what was read, at its own size. What the run has no room for
// is dropped, and said.
func (b *builder) finish(key textKey) *Tool {
	t := &Tool{acts: b.tool.acts}
	t.key = key
	slices.Sort(b.tool.words)
	b.tool.words = slices.Compact(b.tool.words)
	plain := 8*len(b.tool.Text.words) + 24*len(b.tool.pairs)
	if !b.x.want.Words {
		if b.x.counted.Add(int64(plain)) > maxCounted {
			b.tool.Text.words, b.tool.pairs = nil, nil
		}
		plain = 0
	}
	size := tallied + plain + 8*len(b.tool.code) + 8*len(b.tool.words)
	for _, c := range b.tool.called {
		size += 24 + len(c.name)
	}
	if b.full {
		b.x.overflow.Store(true)
	}
	if b.x.kept.Add(int64(size)) > maxKept {
		b.x.overflow.Store(true)
		return t
	}
	t.code = slices.Clone(b.tool.code)
	t.Text.words = slices.Clone(b.tool.Text.words)
	t.pairs = slices.Clone(b.tool.pairs)
	t.called = slices.Clone(b.tool.called)
	t.odd = slices.Clone(b.tool.odd)
	t.words = slices.Clone(b.tool.words)
	t.around = slices.Clone(b.tool.around)
	slices.SortFunc(b.tool.places, func(p, q place) int {
		return cmp.Or(cmp.Compare(p.name, q.name), cmp.Compare(p.at, q.at), cmp.Compare(p.kind, q.kind))
	})
	t.places = slices.Clone(b.tool.places)
	return t
}
