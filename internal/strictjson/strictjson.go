// Package strictjson reads JSON as a strict protocol needs it: one pass over a
// text says whether it is JSON in valid UTF-8, without a repeated key, nested
// within a bound; the other functions slice what was found clean. It must
// never repair a text or keep a part of it.
//
// It is our own because encoding/json ignores the case of keys and takes
// repeated ones, and because jsontext holds 118 MB for one hostile object of
// 8 MiB of keys where this holds 36, at half the speed: five connections have
// to stay under 256 MiB together.
package strictjson

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxDepth limits JSON nesting in a message (CONTRACT.md section 4.4). Real
// tool schemas nest some twenty levels deep.
const MaxDepth = 256

// Verdict is what one pass over a text can know about it as JSON. The pass
// goes on past a fault, so that a message with a fault can be told from a
// line that is no JSON at all.
type Verdict struct {
	JSON     bool // the grammar of RFC 8259, whatever its strings' encoding
	UTF8     bool // valid UTF-8 throughout
	Repeated bool // an object somewhere has a key twice
	Deep     bool // nested deeper than MaxDepth
}

// Clean reports whether the text is JSON that breaks none of the rules.
func (v Verdict) Clean() bool { return v.JSON && v.UTF8 && !v.Repeated && !v.Deep }

// Examine judges text in one pass, without recursion. Its memory is bounded
// by the text's length: one bit a level, eight bytes an open object's key.
func Examine(text []byte) Verdict {
	x := examiner{text: text}
	v := Verdict{JSON: x.document(), UTF8: utf8.Valid(text)}
	v.Deep, v.Repeated = x.deep, x.repeated
	return v
}

// examiner walks a JSON text. Its strings are checked for grammar only, not
// for UTF-8, which is one fast check over the whole text.
type examiner struct {
	text     []byte
	pos      int
	objects  []uint64 // a bit a level: set for an object, clear for an array
	depth    int
	keys     []key // of the open objects, innermost last
	marks    []int // where each open object's keys begin; levels past MaxDepth have none
	deep     bool
	repeated bool
}

// key is a member's name: where it begins and a hash of what it decodes to.
type key struct {
	hash uint32
	at   uint32
}

func (x *examiner) document() bool {
	for {
		x.blanks()
		// A value is due here.
		if x.pos >= len(x.text) {
			return false
		}
		switch c := x.text[x.pos]; {
		case c == '{':
			x.pos++
			x.push(true)
			x.blanks()
			if x.next('}') {
				x.pop()
				break
			}
			if !x.member() {
				return false
			}
			continue
		case c == '[':
			x.pos++
			x.push(false)
			x.blanks()
			if x.next(']') {
				x.pop()
				break
			}
			continue
		case c == '"':
			if !x.str() {
				return false
			}
		case c == '-' || (c >= '0' && c <= '9'):
			if !x.number() {
				return false
			}
		default:
			if !x.literal() {
				return false
			}
		}
		// A value has ended: close what it closes, or go on to the next.
		for {
			x.blanks()
			if x.depth == 0 {
				return x.pos == len(x.text)
			}
			if x.next(',') {
				if x.inObject() {
					x.blanks()
					if !x.member() {
						return false
					}
				}
				break
			}
			end := byte(']')
			if x.inObject() {
				end = '}'
			}
			if !x.next(end) {
				return false
			}
			x.pop()
		}
	}
}

func (x *examiner) push(object bool) {
	word, bit := x.depth/64, uint64(1)<<(x.depth%64)
	if word == len(x.objects) {
		x.objects = append(x.objects, 0)
	}
	x.objects[word] &^= bit
	if object {
		x.objects[word] |= bit
	}
	x.depth++
	if x.depth > MaxDepth {
		x.deep = true
	} else {
		x.marks = append(x.marks, len(x.keys))
	}
}

func (x *examiner) pop() {
	if x.depth <= MaxDepth {
		mark := x.marks[len(x.marks)-1]
		x.marks = x.marks[:len(x.marks)-1]
		if !x.repeated && x.anyTwice(x.keys[mark:]) {
			x.repeated = true
		}
		x.keys = x.keys[:mark]
	}
	x.depth--
}

func (x *examiner) inObject() bool {
	level := x.depth - 1
	return x.objects[level/64]&(1<<(level%64)) != 0
}

// member reads a key and its colon.
func (x *examiner) member() bool {
	at := x.pos
	if !x.str() {
		return false
	}
	if x.depth <= MaxDepth && !x.repeated {
		x.keys = append(x.keys, key{hash: hashOf(x.text[at:x.pos]), at: uint32(at)})
	}
	x.blanks()
	return x.next(':')
}

// anyTwice sorts keys and looks for two that decode to the same name.
func (x *examiner) anyTwice(keys []key) bool {
	if len(keys) > 8 {
		slices.SortFunc(keys, func(a, b key) int { return cmp.Compare(a.hash, b.hash) })
		for i := 1; i < len(keys); i++ {
			for j := i - 1; j >= 0 && keys[j].hash == keys[i].hash; j-- {
				if x.sameKey(keys[i], keys[j]) {
					return true
				}
			}
		}
		return false
	}
	for i := range keys {
		for j := range i {
			if keys[i].hash == keys[j].hash && x.sameKey(keys[i], keys[j]) {
				return true
			}
		}
	}
	return false
}

func (x *examiner) sameKey(a, b key) bool {
	return Decoded(x.text[a.at:stringEnd(x.text, int(a.at))]) == Decoded(x.text[b.at:stringEnd(x.text, int(b.at))])
}

// seed makes collisions unforeseeable: a server cannot make anyTwice slow.
var seed = maphash.MakeSeed()

// hashOf hashes what a string token decodes to.
func hashOf(token []byte) uint32 {
	body := token[1 : len(token)-1]
	if bytes.IndexByte(body, '\\') >= 0 {
		return uint32(maphash.String(seed, Decoded(token)))
	}
	return uint32(maphash.Bytes(seed, body))
}

func (x *examiner) blanks() {
	for x.pos < len(x.text) {
		switch x.text[x.pos] {
		case ' ', '\t', '\n', '\r':
			x.pos++
		default:
			return
		}
	}
}

func (x *examiner) next(c byte) bool {
	if x.pos < len(x.text) && x.text[x.pos] == c {
		x.pos++
		return true
	}
	return false
}

func (x *examiner) literal() bool {
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(x.text[x.pos:], []byte(word)) {
			x.pos += len(word)
			return true
		}
	}
	return false
}

func (x *examiner) number() bool {
	x.next('-')
	if !x.next('0') && !x.digits() {
		return false
	}
	if x.next('.') && !x.digits() {
		return false
	}
	if x.next('e') || x.next('E') {
		if !x.next('+') {
			x.next('-')
		}
		return x.digits()
	}
	return true
}

func (x *examiner) digits() bool {
	from := x.pos
	for x.pos < len(x.text) && x.text[x.pos] >= '0' && x.text[x.pos] <= '9' {
		x.pos++
	}
	return x.pos > from
}

// plain marks the bytes that may stand in a string as they are.
var plain = func() (table [256]bool) {
	for c := 0x20; c < 256; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return
}()

func (x *examiner) str() bool {
	if !x.next('"') {
		return false
	}
	text, pos := x.text, x.pos
	for pos < len(text) {
		if plain[text[pos]] {
			pos++
			continue
		}
		switch text[pos] {
		case '"':
			x.pos = pos + 1
			return true
		case '\\':
			if pos+1 >= len(text) {
				return false
			}
			if text[pos+1] == 'u' {
				if pos+6 > len(text) || !isHex(text[pos+2:pos+6]) {
					return false
				}
				pos += 6
				continue
			}
			if strings.IndexByte(`"\/bfnrt`, text[pos+1]) < 0 {
				return false
			}
			pos += 2
		default: // a control character
			return false
		}
	}
	return false
}

func isHex(digits []byte) bool {
	for _, c := range digits {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
			return false
		}
	}
	return true
}

// The functions below read a text that Examine found to be JSON: they skip
// and slice without checking again.

// Members calls yield with each member of an object, in order, the key
// Decoded; it stops when yield returns false. It returns false for a value
// that is no object.
func Members(value []byte, yield func(key string, value []byte) bool) bool {
	pos := SkipBlanks(value, 0)
	if pos >= len(value) || value[pos] != '{' {
		return false
	}
	pos = SkipBlanks(value, pos+1)
	for value[pos] != '}' {
		end := stringEnd(value, pos)
		name := Decoded(value[pos:end])
		pos = SkipBlanks(value, end) + 1 // the colon
		pos = SkipBlanks(value, pos)
		end = valueEnd(value, pos)
		if !yield(name, value[pos:end]) {
			break
		}
		pos = SkipBlanks(value, end)
		if value[pos] == ',' {
			pos = SkipBlanks(value, pos+1)
		}
	}
	return true
}

// Elements calls yield with each element of an array, in order; it stops when
// yield returns false. It returns false for a value that is no array.
func Elements(value []byte, yield func(element []byte) bool) bool {
	pos := SkipBlanks(value, 0)
	if pos >= len(value) || value[pos] != '[' {
		return false
	}
	pos = SkipBlanks(value, pos+1)
	for value[pos] != ']' {
		end := valueEnd(value, pos)
		if !yield(value[pos:end]) {
			break
		}
		pos = SkipBlanks(value, end)
		if value[pos] == ',' {
			pos = SkipBlanks(value, pos+1)
		}
	}
	return true
}

// IsObject reports whether a value without leading blanks is an object.
func IsObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }

// IsString reports whether a value without leading blanks is a string.
func IsString(value []byte) bool { return len(value) > 0 && value[0] == '"' }

// IsNumber reports whether a value without leading blanks is a number.
func IsNumber(value []byte) bool {
	return len(value) > 0 && (value[0] == '-' || value[0] >= '0' && value[0] <= '9')
}

// SkipBlanks returns the position of the first character from pos that is no
// blank of JSON, or the text's length.
func SkipBlanks(text []byte, pos int) int {
	for pos < len(text) && (text[pos] == ' ' || text[pos] == '\t' || text[pos] == '\n' || text[pos] == '\r') {
		pos++
	}
	return pos
}

// stringEnd returns the position after the string that begins at pos.
func stringEnd(text []byte, pos int) int {
	pos++
	for {
		quote := bytes.IndexByte(text[pos:], '"')
		end := pos + quote
		// The quote is escaped when an odd number of backslashes precede it.
		slashes := 0
		for end-slashes > pos && text[end-slashes-1] == '\\' {
			slashes++
		}
		pos = end + 1
		if slashes%2 == 0 {
			return pos
		}
	}
}

// valueEnd returns the position after the value that begins at pos.
func valueEnd(text []byte, pos int) int {
	depth := 0
	for {
		switch text[pos] {
		case '"':
			pos = stringEnd(text, pos)
		case '{', '[':
			depth++
			pos++
		case '}', ']':
			depth--
			pos++
		case ',', ':', ' ', '\t', '\n', '\r':
			pos++
			continue
		default: // a number or a literal
			for pos < len(text) && strings.IndexByte(",]} \t\n\r", text[pos]) < 0 {
				pos++
			}
		}
		if depth == 0 {
			return pos
		}
	}
}

// Decoded returns what a string token stands for. A lone surrogate, which no
// UTF-8 can hold, keeps the three bytes of its own (WTF-8): two tokens decode
// to the same text only if they are the same string.
func Decoded(token []byte) string {
	body := token[1 : len(token)-1]
	if bytes.IndexByte(body, '\\') < 0 {
		return string(body)
	}
	out := make([]byte, 0, len(body))
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			out = append(out, body[i])
			continue
		}
		i++
		if body[i] != 'u' {
			out = append(out, unescaped(body[i]))
			continue
		}
		unit := hexUnit(body[i+1:])
		i += 4
		if unit >= 0xd800 && unit < 0xdc00 && i+6 < len(body) && body[i+1] == '\\' && body[i+2] == 'u' {
			if low := hexUnit(body[i+3:]); low >= 0xdc00 && low < 0xe000 {
				out = utf8.AppendRune(out, (unit-0xd800)<<10|(low-0xdc00)+0x10000)
				i += 6
				continue
			}
		}
		if unit >= 0xd800 && unit < 0xe000 {
			out = append(out, 0xe0|byte(unit>>12), 0x80|byte(unit>>6)&0x3f, 0x80|byte(unit)&0x3f)
			continue
		}
		out = utf8.AppendRune(out, unit)
	}
	return string(out)
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

func hexUnit(digits []byte) rune {
	var unit rune
	for _, c := range digits[:4] {
		unit <<= 4
		switch {
		case c <= '9':
			unit |= rune(c - '0')
		case c <= 'F':
			unit |= rune(c - 'A' + 10)
		default:
			unit |= rune(c - 'a' + 10)
		}
	}
	return unit
}
