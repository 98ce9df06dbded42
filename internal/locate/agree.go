package locate

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what may stand between two letters of a text in its source.
const (
	maxGap    = 160 // bytes of an interpolation, or of the code between two literals
	maxFilled = 128 // letters, in bytes, that an interpolation stands for
	maxSlip   = 4   // letters that only one of the two has, as the n of a \n that is meant as it is
	maxGaps   = 12
)

// interpolation finds what stands for a text that a source puts in: in
// braces, after a dollar or per cent sign, or between the end of a literal
// and the start of the next. The group is where it begins on its line.
var interpolation = regexp.MustCompile(strings.NewReplacer(
	"{glue}", "(?:\\+\\+?|\\.\\.|\\s\\.\\s|<>|&|~|\\|\\||<<)",
	"{close}", "[\"'`]\\s*\\\\?\\s*",
	"{open}", "\\s*\\\\?\\s*[@$frbuFRBU]{0,2}[\"'`]",
	"{name}", "[A-Za-z_$@](?:\\w|->|[.:$!])*(?:\\[[^\\[\\]\\n]{1,40}\\])?(?:\\([^()\\n]{0,40}\\))?",
).Replace(strings.Join([]string{
	`[$#]?\{{1,3}[^{}]{0,80}\}{1,3}`,
	`\\\([^()\n]{1,60}(?:\(\))?\)`,
	`\$\([^()\n]{1,60}\)`,
	`%(?:\[\d+\]|\d+\$|\(\w+\))?[svqd@]`,
	`%[A-Z][A-Z_]+%|__[A-Z][A-Z_]+__|@[A-Z][A-Z_]+@`,
	`<%=?[^%]{1,60}%>`,
	`{close}{glue}\s*({name})\s*{glue}{open}`,
	`"\s*,\s*({name})\s*,{open}`,
	`"\s+([A-Z][A-Z0-9_]+)\s+"`,
	"[\"'`]\\s*\\)[;\\s]*[\\w.]{1,40}\\(\\s*({name})\\s*\\)[;\\s]*[\\w.]{1,40}\\({open}",
	`{close}{glue}\s*({name})`,
	`\b({name})\s*{glue}{open}`,
	`\$[A-Za-z_]\w*(?:(?:->|\.|::)\w+)*`,
}, "|")))

// found returns where a match begins and ends, and where what it stands for
// begins.
func found(match []int) (start, end, at int) {
	for i := 2; i < len(match); i += 2 {
		if match[i] >= 0 {
			return match[0], match[1], match[i]
		}
	}
	return match[0], match[1], match[0]
}

// adjoins reports whether so many letters next to the index, or all that
// there are, are the wanted ones.
func (f *folded) adjoins(index int, want []byte, step, n int) bool {
	if n = min(n, len(want)); step < 0 {
		return n > 0 && bytes.HasSuffix(f.letters[:index], want[len(want)-n:])
	}
	return n > 0 && bytes.HasPrefix(f.letters[index:], want[:n])
}

// isApart reports whether a literal ends or starts between the letters from
// one index to another and those around.
func (f *folded) isApart(start, end int) bool {
	return bytes.ContainsAny(f.text[f.end(start):f.start(start)], "\"'") || bytes.ContainsAny(f.text[f.end(end):f.start(end)], "\"'")
}

// spells reports whether the query's name stands at the index, in its own
// spelling and as a word of its own.
func (f *folded) spells(index int, q *query) bool {
	to := index + len(q.letters)
	if !bytes.HasPrefix(f.letters[index:], q.letters) {
		return false
	}
	start, end := f.start(index), f.end(to)
	spelled := f.text[start:end]
	// The letter of an escape before the name is no letter.
	if isJoined(f.text[:start], true) && (f.text[start-1] == '_' || f.text[start-1] == '-' || index > 0 && f.end(index) == start) {
		return false
	}
	if isJoined(f.text[end:], false) {
		return false
	}
	name := strings.Trim(q.name, "_.:-")
	return string(spelled) == name || bareSpelling(string(spelled)) == bareSpelling(name)
}

// isJoined reports whether a word goes on at the end, or the start, of what
// is beside a name.
func isJoined(text []byte, atEnd bool) bool {
	next := func() rune {
		var r rune
		var size int
		if atEnd {
			r, size = utf8.DecodeLastRune(text)
			text = text[:len(text)-size]
		} else {
			r, size = utf8.DecodeRune(text)
			text = text[size:]
		}
		return r
	}
	if len(text) == 0 {
		return false
	}
	r := next()
	return isWord(r) || r == '-' && len(text) > 0 && isWord(next())
}

// bareSpelling leaves out what a source puts into a name that it takes apart
// or escapes.
func bareSpelling(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("\\\"'`+ \t\r\n", r) {
			return -1
		}
		return r
	}, text)
}

// gapAfter finds an interpolation that stands for the name after the letters
// that end at the index: where it stands, the index of the letter that
// follows, and whether it has the tool's name.
func (f *folded) gapAfter(index int, q *query) (at, to int, spoken, ok bool) {
	for _, lead := range []int{0, commonPrefix(f.letters[index:], q.letters)} {
		from := f.end(index + lead)
		match := interpolation.FindSubmatchIndex(f.text[from:min(len(f.text), from+maxGap)])
		if match == nil {
			continue
		}
		start, end, begins := found(match)
		if f.start(index+lead) < from+start {
			continue // there are letters between
		}
		to = f.index(from + end)
		tail := commonPrefix(f.letters[to:], q.after)
		if rest := q.letters[lead:]; tail < narrow {
			for n := len(rest); n > 0; n-- {
				if bytes.HasPrefix(f.letters[to:], rest[len(rest)-n:]) {
					to += n
					break
				}
			}
		}
		return from + begins, to, speaks(f.text[from+start:from+end], q), true
	}
	return 0, 0, false, false
}

// gapBefore is gapAfter for an interpolation before the letters that start at
// the index.
func (f *folded) gapBefore(index int, q *query) (at, start int, spoken, ok bool) {
	tail := 0
	for tail < min(index, len(q.letters)) && f.letters[index-1-tail] == q.letters[len(q.letters)-1-tail] {
		tail++
	}
	for _, tail := range []int{0, tail} {
		to := f.start(index - tail)
		from := max(0, to-maxGap)
		matches := interpolation.FindAllSubmatchIndex(f.text[from:to], -1)
		if len(matches) == 0 {
			continue
		}
		start, end, begins := found(matches[len(matches)-1])
		if index-tail > 0 && f.end(index-tail) > from+end {
			continue
		}
		return from + begins, f.index(from + start), speaks(f.text[from+start:from+end], q), true
	}
	return 0, 0, false, false
}

// index returns the index of the first letter at or after an offset.
func (f *folded) index(at int) int {
	index, _ := slices.BinarySearch(f.at, int32(at))
	return index
}

func commonPrefix(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// speaks reports whether an interpolation's last word is the tool's name, in
// any spelling, as SEARCH_TOOL or tools.search.
func speaks(text []byte, q *query) bool {
	words := bytes.FieldsFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	bare := func(text []byte) string {
		return strings.NewReplacer("tool", "", "name", "").Replace(strings.ToLower(string(lettersOf(string(text)))))
	}
	name := bare(q.letters)
	return name != "" && slices.ContainsFunc(words, func(word []byte) bool { return bare(word) == name })
}

// agree counts the letters that agree with the wanted ones, from the index on
// or, with step -1, before it and backwards. Where the source interpolates,
// or code stands between two literals, it goes on behind; over is how many
// letters of the wanted were passed there. A slip of few letters costs as
// much as makes a clear difference.
func (f *folded) agree(index int, want []byte, step int) (agree, over int) {
	letter := func(i int) byte { return f.letters[index+i] }
	wanted := func(j int) byte { return want[j] }
	length := len(f.letters) - index
	if step < 0 {
		letter = func(i int) byte { return f.letters[index-1-i] }
		wanted = func(j int) byte { return want[len(want)-1-j] }
		length = index
	}
	same := func(i, j, n int) bool {
		if i+n > length || j+n > len(want) {
			return false
		}
		for k := range n {
			if letter(i+k) != wanted(j+k) {
				return false
			}
		}
		return true
	}
	for i, j, gaps := 0, 0, 0; ; gaps++ {
		for i < length && j < len(want) && letter(i) == wanted(j) {
			if utf8.RuneStart(wanted(j)) {
				agree++
			}
			i, j = i+1, j+1
		}
		if i >= length || j >= len(want) || gaps == maxGaps {
			return max(0, agree), over
		}
		if back, di, dj, ok := f.gap(index, i, j, length, len(want), step, same); ok {
			for k := range back {
				if utf8.RuneStart(wanted(j - 1 - k)) {
					agree--
				}
			}
			i, j = i-back, j-back
			for k := range dj {
				if utf8.RuneStart(wanted(j + k)) {
					over++
				}
			}
			i, j = i+di, j+dj
			continue
		}
		di, dj, ok := slip(i, j, same)
		if !ok {
			return max(0, agree), over
		}
		agree -= clearly
		i, j = i+di, j+dj
	}
}

// gap finds the nearest letters that agree again behind an interpolation or
// the code between two literals. The code may begin with the letters that
// should follow: back is how many of those that agreed are taken back.
func (f *folded) gap(index, i, j, length, wanted, step int, same func(i, j, n int) bool) (back, di, dj int, ok bool) {
	for back = 0; back <= min(maxSlip, i, j); back++ {
		if di, dj, ok = f.gapAt(index, i-back, j-back, length, wanted, step, same); ok && di+dj > back {
			return back, di, dj, true
		}
	}
	return 0, 0, 0, false
}

func (f *folded) gapAt(index, i, j, length, wanted, step int, same func(i, j, n int) bool) (di, dj int, ok bool) {
	at := f.end(index + i*step)
	from, to := at, min(len(f.text), at+maxGap)
	if step < 0 {
		at = f.start(index - i)
		from, to = max(0, at-maxGap), at
	}
	list := f.codeBetween(from, to, at)
	if len(list) == 0 {
		return 0, 0, false
	}
	const again = 7 // letters
	for di = 0; di <= maxGap && i+di < length; di++ {
		first, last := index+i, index+i+di // the letters that are passed
		if step < 0 {
			first, last = index-i-di, index-i
		}
		if f.start(first) < from && di > 0 || f.end(last) > to && di > 0 {
			break
		}
		ok, isCode := f.isPassed(first, last, list)
		if !ok {
			continue
		}
		// A literal may be of few letters, where nothing is put in between.
		if isCode && same(i+di, j, min(3, wanted-j)) {
			return di, 0, true
		}
		for dj = 0; dj <= maxFilled && j+dj < wanted; dj++ {
			rest := min(again, wanted-j-dj)
			if rest < 3 {
				break
			}
			if same(i+di, j+dj, rest) {
				return di, dj, true
			}
		}
	}
	return 0, 0, false
}

// between is where a source has something else than its text: an
// interpolation, or what is between two quotes. Of the latter every other one
// is code, and the rest is text again.
type between struct {
	from, to int
	quoted   int // which one between quotes it is, from 1; 0 for an interpolation
}

// openAt returns where the interpolation in braces begins and ends that holds
// the offset.
func (f *folded) openAt(at int) (opened, closed int, ok bool) {
	before, after := f.text[max(0, at-maxGap):at], f.text[at:min(len(f.text), at+maxGap)]
	opened, closed = bytes.LastIndexAny(before, "{}"), bytes.IndexAny(after, "{}")
	if opened < 1 || closed < 0 || before[opened] != '{' || before[opened-1] != '$' && before[opened-1] != '#' || after[closed] != '}' {
		return 0, 0, false
	}
	return at - len(before) + opened - 1, at + closed + 1, true
}

// codeBetween lists them from one offset to another; at is the one of these
// that the text is compared from.
func (f *folded) codeBetween(from, to, at int) (list []between) {
	text := f.text[from:to]
	for _, match := range f.interpolations(text) {
		list = append(list, between{from + match[0], from + match[1], 0})
	}
	// We may be inside an interpolation, one that chooses between two texts.
	if opened, closed, ok := f.openAt(at); ok {
		list = append(list, between{max(from, opened), min(to, closed), 0})
	}
	last, quotes := -1, 0
	for i, c := range text {
		if c == '"' || c == '\'' || c == '`' {
			if last >= 0 && i > last+1 {
				quotes++
				list = append(list, between{from + last, from + i, quotes})
			}
			last = i
		}
	}
	return list
}

// maxRemembered is how many windows of a file are remembered.
const maxRemembered = 4096

// interpolations finds them in a window of the file. A file that says one thing
// thousands of times is searched once for it.
func (f *folded) interpolations(window []byte) [][]int {
	found, ok := f.remembered[string(window)]
	if !ok {
		found = interpolation.FindAllIndex(window, -1)
		if f.remembered == nil {
			f.remembered = map[string][][]int{}
		}
		if len(f.remembered) < maxRemembered {
			f.remembered[string(window)] = found
		}
	}
	return found
}

// isPassed reports whether the letters are all part of what stands between
// parts of the text; without any, whether something stands beside them. code
// is that from the end of one literal to the start of the next.
func (f *folded) isPassed(first, last int, list []between) (passed, code bool) {
	start, end := f.end(first), f.start(last)
	parity := -1
	for i := first; i < last; i++ {
		at := int(f.at[i])
		in := slices.IndexFunc(list, func(b between) bool { return b.from <= at && at < b.to && start <= b.from && b.to <= end })
		if in < 0 {
			return false, false
		}
		if quoted := list[in].quoted; quoted > 0 {
			if parity >= 0 && parity != quoted%2 {
				return false, false
			}
			parity = quoted % 2
		}
	}
	if first < last {
		return true, parity >= 0
	}
	return slices.ContainsFunc(list, func(b between) bool { return start <= b.from && b.to <= end }), false
}

// slip finds where letters agree again after few that only one side has.
func slip(i, j int, same func(i, j, n int) bool) (di, dj int, ok bool) {
	for sum := 1; sum <= 2*maxSlip; sum++ {
		for di := max(0, sum-maxSlip); di <= min(sum, maxSlip); di++ {
			if same(i+di, j+sum-di, 12) {
				return di, sum - di, true
			}
		}
	}
	return 0, 0, false
}

// wholeLine reports whether the line stands around its first letter, which is
// at the index, as it is or with its quotes and ticks escaped as in a literal,
// and where it begins. It may be part of a longer line, not of a longer word.
func (f *folded) wholeLine(line string, index int) (int, bool) {
	lead := strings.IndexFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	if lead < 0 {
		return 0, false
	}
	at := f.start(index)
	start := at
	for i := lead - 1; i >= 0; i-- {
		if start--; start < 0 || f.text[start] != line[i] {
			return 0, false
		}
		if isQuote(line[i]) && start > 0 && f.text[start-1] == '\\' && (i == 0 || line[i-1] != '\\') {
			start--
		}
	}
	text := f.text[at:]
	for i := lead; i < len(line); i++ {
		if len(text) > 1 && text[0] == '\\' && isQuote(text[1]) && (line[i] != '\\' || text[1] == '\\') {
			text = text[1:]
		}
		if len(text) == 0 || text[0] != line[i] {
			return 0, false
		}
		text = text[1:]
	}
	last, _ := utf8.DecodeLastRuneInString(line)
	if lead == 0 && index > 0 && f.end(index) == start || isWord(last) && isJoined(text, false) {
		return 0, false
	}
	return start, true
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func isQuote(c byte) bool { return strings.IndexByte("`\"'\\", c) >= 0 }
