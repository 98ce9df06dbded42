package reference

import (
	"unicode"
	"unicode/utf8"

	"github.com/org/mcpeval-guidance/internal/name"
)

// A chunk is the longest run of letters and digits of any script, _, and the
// joiners - . : and /. In it a piece is the longest run of letters, digits
// and _ with single joiners but no slash inside: most chunks are one piece.
//
// A known name that begins and ends with a letter, digit or _ and has no two
// joiners side by side stands alone exactly where it is a whole piece: within
// one, each joiner has such characters on both sides. A piece beside a slash
// with a piece on its other side counts where both are known (a pair).
//
// Any other name is odd (get_me., -x-all, a--b). A lone joiner that ends a
// chunk, as at the end of a sentence, makes a second name of the piece before
// it. All other chunks that could hold an odd name are kept as they are, in
// little memory, and looked at only where a session lists an odd name.

// minUnmistakable is the least length of a name that counts as a plain word.
const minUnmistakable = 5

// Unmistakable reports whether a name may count as a plain word (CONTRACT.md
// section 3.4).
func Unmistakable(s string) bool {
	if len(s) < minUnmistakable {
		return false
	}
	for i := 1; i < len(s); i++ {
		if c := classes[s[i]]; c == special || c == joiner {
			return true
		}
	}
	return false
}

// isOdd reports whether a name can stand alone where it is no whole piece.
func isOdd(s string) bool {
	after := joiner // before the first character stands none
	for i := range len(s) {
		c := classes[s[i]]
		if c == joiner && after == joiner {
			return true
		}
		after = c
	}
	return after == joiner
}

type class byte

const (
	other   class = iota
	lower         // a-z
	special       // A-Z 0-9 _
	joiner        // - . :
	slash
	wide // the first byte of a character outside ASCII
)

var classes = func() (table [256]class) {
	for c := range table {
		switch {
		case c >= 'a' && c <= 'z':
			table[c] = lower
		case c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_':
			table[c] = special
		case c == '-', c == '.', c == ':':
			table[c] = joiner
		case c == '/':
			table[c] = slash
		case c >= utf8.RuneSelf:
			table[c] = wide
		}
	}
	return table
}()

// letterAt returns the length of the letter, digit or _ at i, 0 where there
// stands none.
func letterAt(s string, i int) int {
	if i >= len(s) {
		return 0
	}
	switch classes[s[i]] {
	case lower, special:
		return 1
	case wide:
		if r, size := utf8.DecodeRuneInString(s[i:]); unicode.IsLetter(r) || unicode.IsDigit(r) {
			return size
		}
	}
	return 0
}

// words reads a line. The lines before and after it are those of its
// paragraph, noSpan where there is none.
func (b *builder) words(text string, before, line, after span) {
	for i := line.start; i < line.end; {
		switch classes[text[i]] {
		case other:
			i++
		case lower: // most words end here
			end := i + 1
			for end < line.end && classes[text[end]] == lower {
				end++
			}
			if end == line.end || classes[text[end]] == other {
				i = end
				continue
			}
			i = b.chunk(text, i, before, line, after)
		case wide:
			if size := letterAt(text[:line.end], i); size == 0 {
				_, size = utf8.DecodeRuneInString(text[i:line.end])
				i += size
				continue
			}
			fallthrough
		default:
			i = b.chunk(text, i, before, line, after)
		}
	}
}

// piece is a piece of a chunk.
type piece struct {
	start, end int
	hash       uint64 // 0 where it can be no unmistakable name
	left       uint64 // of the piece before the slash on its left
	afterSlash bool   // there is such a slash
	isWord     bool   // it has no . and no : and is of the grammar
}

// chunk reads the chunk that begins at start and returns its end.
func (b *builder) chunk(text string, start int, before, line, after span) int {
	s := text[:line.end]
	odd, slashed, pieces := false, false, 0
	var held piece // it has a slash on its right: what stands there comes next
	var last piece
	i := start
	for i < len(s) {
		if c := classes[s[i]]; c == joiner || c == slash {
			end, joiners := i, 0
			for end < len(s) && (classes[s[end]] == joiner || classes[s[end]] == slash) {
				if classes[s[end]] == joiner {
					joiners++
				}
				end++
			}
			ends := letterAt(s, end) == 0
			switch {
			case joiners == 0: // no name has a slash
			case ends && end-i == 1 && pieces == 1 && !slashed && !odd:
				b.trailing(s[last.start:end])
			default:
				odd = true
			}
			i = end
			continue
		}
		p := piece{start: i, end: i}
		if held.end > 0 {
			p.afterSlash, p.left = true, held.hash
		}
		if !b.piece(s, &p) {
			break
		}
		pieces++
		i = p.end
		if held.end > 0 && held.hash != 0 && p.hash != 0 && (!held.afterSlash || held.left != 0) {
			b.pair(pair{held.hash, held.left, p.hash}, held.start)
		}
		held = piece{}
		last = p
		if i < len(s) && s[i] == '/' && letterAt(s, i+1) > 0 {
			slashed, held = true, p
			i++
			continue
		}
		switch {
		case p.afterSlash:
			if p.hash != 0 && p.left != 0 {
				b.pair(pair{p.hash, p.left, 0}, p.start)
			}
		case p.hash != 0:
			b.word(p.hash, p.start)
			if b.x.want.Unlisted && p.isWord && callable(s[p.start:p.end]) {
				b.callable(text, p, before, line, after)
			}
		}
	}
	if odd && i-start >= minUnmistakable {
		b.oddChunk(s[start:i])
	}
	return i
}

// piece finds the end of the piece that begins at p.start and judges it. It
// returns false where there is none.
func (b *builder) piece(s string, p *piece) bool {
	ascii, marked, words := true, false, true
	i := p.start
scan:
	for i < len(s) {
		switch classes[s[i]] {
		case lower:
			i++
		case special:
			marked = marked || i > p.start
			i++
		case wide:
			size := letterAt(s, i)
			if size == 0 {
				break scan
			}
			ascii = false
			i += size
		case joiner:
			if i == p.start || letterAt(s, i+1) == 0 {
				break scan
			}
			marked = true
			words = words && s[i] == '-'
			i++
		default:
			break scan
		}
	}
	p.end = i
	p.isWord = ascii && words
	if length := i - p.start; ascii && marked && length >= minUnmistakable && length <= name.MaxBytes {
		p.hash = hashOf(s[p.start:i])
	}
	return i > p.start
}

// trailing takes a piece together with the joiner that ends its chunk.
func (b *builder) trailing(s string) {
	if len(s) >= minUnmistakable && len(s) <= name.MaxBytes && name.Valid(s) {
		// Hardly ever a name: no place is kept for it.
		h := hashOf(s)
		if first, _ := b.mention(h^wordSalt, b.x.want.Words); first {
			b.tool.Text.words = append(b.tool.Text.words, h)
		}
	}
}

// oddNames calls found with each known unmistakable name that stands alone in
// an odd chunk. A chunk is made of letters, digits, _, joiners and slashes.
func oddNames(chunk string, known func(string) bool, found func(string)) {
	isLetter := func(i int) bool { c := classes[chunk[i]]; return c != joiner && c != slash }
	// alone says whether a name may begin, and end, at a place.
	begins := func(i int) bool { return i == 0 || !isLetter(i-1) && (i == 1 || !isLetter(i-2)) }
	ends := func(j int) bool {
		return j == len(chunk) || !isLetter(j) && (j+1 == len(chunk) || !isLetter(j+1))
	}
	each := func(yield func(i, j int)) {
		for i := range len(chunk) {
			if !begins(i) && chunk[i-1] != '/' {
				continue
			}
			for j := i; j < len(chunk) && j-i < name.MaxBytes && name.IsPart(chunk[j]); {
				j++
				if (ends(j) || chunk[j] == '/') && Unmistakable(chunk[i:j]) && known(chunk[i:j]) {
					yield(i, j)
				}
			}
		}
	}
	// A slash is open where a known name ends before it and one begins after.
	left, right := map[int]bool{}, map[int]bool{}
	each(func(i, j int) { left[j], right[i-1] = true, true })
	each(func(i, j int) {
		if (begins(i) || left[i-1] && right[i-1]) && (ends(j) || left[j] && right[j]) {
			found(chunk[i:j])
		}
	})
}
