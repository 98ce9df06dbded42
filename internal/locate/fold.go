package locate

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// folded is a text's letters and digits, the only thing that a file and the
// text that a server made of it have in common: quotes, glue, blanks and the
// letters of a language's escapes are left out.
type folded struct {
	text    []byte
	letters []byte  // UTF-8
	at      []int32 // by byte of letters, where it stands in the text
	starts  []int32 // of the text's lines; made when a line is asked for

	remembered map[string][][]int // by a window of the text, the interpolations in it
}

// fold folds a text into the memory of the one before. It calls seen with
// each new length of letters.
func (f *folded) fold(text []byte, seen func(letter byte, length int)) {
	f.text, f.letters, f.at, f.starts = text, f.letters[:0], f.at[:0], f.starts[:0]
	clear(f.remembered)
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case (c|' ' == 'f' || c|' ' == 'r' || c|' ' == 'b' || c|' ' == 'u') && isPrefix(text, i):
			i++
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9':
			f.letters, f.at = append(f.letters, c), append(f.at, int32(i))
			seen(c, len(f.letters))
			i++
		case c == '\\':
			r, size := escape(text[i:])
			f.add(r, i, seen)
			i += size
		case c == '&':
			r, size := entity(text[i:])
			f.add(r, i, seen)
			i += size
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(text[i:])
			f.add(r, i, seen)
			i += size
		default:
			i++
		}
	}
}

// isPrefix reports whether the letter at the offset is the prefix of a literal
// that goes on from another, as in "a" f"b".
func isPrefix(text []byte, at int) bool {
	end := at + 1
	for end < len(text) && end < at+4 && (text[end] == '#' || text[end]|' ' == 'r') {
		end++
	}
	if end == len(text) || text[end] != '"' && text[end] != '\'' {
		return false
	}
	before := bytes.TrimRight(text[max(0, at-maxGap):at], " \t\r\n\\+,")
	return len(before) > 0 && (before[len(before)-1] == '"' || before[len(before)-1] == '\'') && (text[at-1] <= ' ' || text[at-1] == '+' || text[at-1] == ',')
}

func (f *folded) add(r rune, at int, seen func(byte, int)) {
	if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
		return
	}
	var buffer [utf8.UTFMax]byte
	for _, c := range buffer[:utf8.EncodeRune(buffer[:], r)] {
		f.letters, f.at = append(f.letters, c), append(f.at, int32(at))
		seen(c, len(f.letters))
	}
}

// escape reads what stands at a backslash: the character that it means, 0 for
// one that is no letter, and how long it is.
func escape(text []byte) (rune, int) {
	if len(text) < 2 {
		return 0, 1
	}
	switch c := text[1]; c {
	case 'n', 't', 'r', 'b', 'f', 'v', 'a', 'e', '\\':
		return 0, 2
	case 'u', 'U', 'x':
		width := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		if len(text) > 2 && text[2] == '{' {
			if end := slices.Index(text[:min(len(text), 12)], '}'); end > 3 {
				if r, err := strconv.ParseUint(string(text[3:end]), 16, 32); err == nil {
					return rune(r), end + 1
				}
			}
		}
		if len(text) < 2+width {
			return 0, 1
		}
		r, err := strconv.ParseUint(string(text[2:2+width]), 16, 32)
		if err != nil {
			return 0, 1
		}
		if c == 'x' && r >= utf8.RuneSelf {
			return escapedBytes(text)
		}
		return rune(r), 2 + width
	case '0', '1', '2', '3', '4', '5', '6', '7':
		end := 2
		for end < min(len(text), 4) && '0' <= text[end] && text[end] <= '7' {
			end++
		}
		r, _ := strconv.ParseUint(string(text[1:end]), 8, 32)
		return rune(r), end
	case 'N':
		if end := slices.Index(text[:min(len(text), 60)], '}'); end > 3 && text[2] == '{' {
			return 0, end + 1
		}
	}
	return 0, 1
}

// escapedBytes reads a character that is escaped byte by byte, as \xc3\xa9,
// or as the number that it has, as \xe9.
func escapedBytes(text []byte) (rune, int) {
	var encoded []byte
	for at := 0; len(encoded) < utf8.UTFMax && at+4 <= len(text) && text[at] == '\\' && text[at+1] == 'x'; at += 4 {
		value, err := strconv.ParseUint(string(text[at+2:at+4]), 16, 8)
		if err != nil {
			break
		}
		encoded = append(encoded, byte(value))
	}
	if r, size := utf8.DecodeRune(encoded); size > 1 {
		return r, 4 * size
	}
	return rune(encoded[0]), 4
}

// entity reads what stands at an ampersand, as escape does.
func entity(text []byte) (rune, int) {
	end := slices.Index(text[:min(len(text), 10)], ';')
	if end < 3 {
		return 0, 1
	}
	name := string(text[1:end])
	if number, ok := strings.CutPrefix(name, "#"); ok {
		base := 10
		if hex, ok := strings.CutPrefix(strings.ToLower(number), "x"); ok {
			number, base = hex, 16
		}
		if r, err := strconv.ParseUint(number, base, 21); err == nil {
			return rune(r), end + 1
		}
		return 0, 1
	}
	for _, c := range name {
		if c < 'a' || c > 'z' {
			return 0, 1
		}
	}
	return 0, end + 1
}

// lettersOf folds a short text.
func lettersOf(text string) []byte {
	var f folded
	f.fold([]byte(text), func(byte, int) {})
	return f.letters
}

// line returns the line, from 1, of an offset of the text.
func (f *folded) line(at int) int {
	if len(f.starts) == 0 {
		f.starts = append(f.starts, 0)
		for i, c := range f.text {
			if c == '\n' {
				f.starts = append(f.starts, int32(i+1))
			}
		}
	}
	line, found := slices.BinarySearch(f.starts, int32(at))
	if found {
		line++
	}
	return line
}

// end returns where the letter before the index ends in the text, and start
// where the letter at the index stands.
func (f *folded) end(index int) int {
	if index == 0 {
		return 0
	}
	at := int(f.at[index-1])
	switch f.text[at] {
	case '\\':
		_, size := escape(f.text[at:])
		return at + size
	case '&':
		_, size := entity(f.text[at:])
		return at + size
	}
	_, size := utf8.DecodeRune(f.text[at:])
	return at + size
}

func (f *folded) start(index int) int {
	if index >= len(f.at) {
		return len(f.text)
	}
	return int(f.at[index])
}
