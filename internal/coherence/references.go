package coherence

import "strings"

// maxLines is how many lines are kept for one tool: enough to find one that
// stands in one place of the user's repository.
const maxLines = 8

// Reference is a known tool that instructions name as inline code.
type Reference struct {
	Tool  string
	Lines []string // the first lines that hold it, each once, at most maxLines
}

// References finds the known tools that the instructions name as inline code
// (CONTRACT.md section 3), in order of their first place.
//
// Two readings count. The plain one needs no Markdown: a run of backticks,
// the exact name, a run of the same length, wherever it stands outside fenced
// code. The padded one, with a space on each side inside the ticks, counts
// where CommonMark's pairing from left to right within a paragraph finds that
// code span; without the pairing, the text between two spans would count.
func References(instructions string, known func(name string) bool) []Reference {
	var found []Reference
	index := map[string]int{}
	lineStart, lineEnd := 0, -1 // of the line looked at last
	add := func(name string, at int) {
		if !known(name) {
			return
		}
		i, ok := index[name]
		if !ok {
			i = len(found)
			index[name] = i
			found = append(found, Reference{Tool: name})
		}
		if r := &found[i]; len(r.Lines) < maxLines {
			if at < lineStart || at > lineEnd {
				lineStart, lineEnd = lineAround(instructions, at)
			}
			line := instructions[lineStart:lineEnd]
			if len(r.Lines) == 0 || r.Lines[len(r.Lines)-1] != line {
				r.Lines = append(r.Lines, line)
			}
		}
	}

	var blocks blockReader
	var paragraph []run
	for start, end := range lines(instructions) {
		skip, kind := blocks.next(instructions[start:end])
		if kind != goesOn {
			padded(instructions, paragraph, add)
			paragraph = paragraph[:0]
		}
		if kind == noText {
			continue
		}
		before := len(paragraph)
		paragraph = appendRuns(paragraph, instructions, start+skip, end)
		plain(instructions, paragraph[before:], add)
	}
	padded(instructions, paragraph, add)
	return found
}

// run is a run of backticks. Instructions fit in a frame, so their offsets
// fit in 32 bits; a hostile text has millions of runs.
type run struct {
	at     uint32
	length uint32 // of the whole run: what it has where it closes a span
	opens  uint32 // what it has where it opens one: an escaped tick is not part of it
}

func (r run) end() int { return int(r.at + r.length) }

func appendRuns(runs []run, text string, at, lineEnd int) []run {
	lineStart := at
	for {
		tick := strings.IndexByte(text[at:lineEnd], '`')
		if tick < 0 {
			return runs
		}
		at += tick
		end := at
		for end < lineEnd && text[end] == '`' {
			end++
		}
		slashes := 0
		for at-slashes > lineStart && text[at-slashes-1] == '\\' {
			slashes++
		}
		length := uint32(end - at)
		runs = append(runs, run{at: uint32(at), length: length, opens: length - uint32(slashes%2)})
		at = end
	}
}

// plain finds names that stand between two neighbouring runs of one line, so
// that a stray tick elsewhere changes nothing.
func plain(text string, runs []run, add func(string, int)) {
	for i := 1; i < len(runs); i++ {
		if open, end := runs[i-1], runs[i]; open.opens == end.length {
			add(text[open.end():end.at], int(open.at))
		}
	}
}

// padded pairs the runs of a paragraph as CommonMark 0.31.2 does (section
// 6.1): a run opens a span if a later run of the same length closes it, and
// is plain text otherwise. Inside a span a backslash escapes nothing.
func padded(text string, runs []run, add func(string, int)) {
	if len(runs) < 2 {
		return
	}
	closer := make([]uint32, len(runs)) // 0: none
	last := map[uint32]uint32{}         // by length, the nearest run that has it
	for i := len(runs) - 1; i >= 0; i-- {
		closer[i] = last[runs[i].opens]
		last[runs[i].length] = uint32(i)
	}
	for i := 0; i < len(runs); i++ {
		if closer[i] == 0 {
			continue
		}
		open := runs[i]
		i = int(closer[i])
		code := text[open.end():runs[i].at]
		if len(code) > 2 && code[0] == ' ' && code[len(code)-1] == ' ' {
			add(code[1:len(code)-1], int(open.at))
		}
	}
}

// lines yields where each line begins and ends, without its end, which is LF,
// CRLF or CR.
func lines(text string) func(func(start, end int) bool) {
	return func(yield func(start, end int) bool) {
		for start := 0; ; {
			length := strings.IndexAny(text[start:], "\r\n")
			if length < 0 {
				yield(start, len(text))
				return
			}
			end := start + length
			if !yield(start, end) {
				return
			}
			start = end + 1
			if strings.HasPrefix(text[end:], "\r\n") {
				start++
			}
		}
	}
}

// lineAround returns where the line that holds the offset begins and ends.
func lineAround(text string, at int) (start, end int) {
	start = strings.LastIndexAny(text[:at], "\r\n") + 1
	if length := strings.IndexAny(text[at:], "\r\n"); length >= 0 {
		return start, at + length
	}
	return start, len(text)
}
