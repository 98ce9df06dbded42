package reference

import "strings"

// run is a run of backticks.
type run struct {
	at    int
	end   int
	opens int // its length where it opens a span: an escaped tick is not part of it
}

func (r run) length() int { return r.end - r.at }

// nextRun finds the first run that begins at or after at. ok is false when
// there is none.
func nextRun(text string, at int) (r run, ok bool) {
	tick := strings.IndexByte(text[at:], '`')
	if tick < 0 {
		return run{}, false
	}
	r.at = at + tick
	r.end = r.at
	for r.end < len(text) && text[r.end] == '`' {
		r.end++
	}
	slashes := 0
	for r.at-slashes > at && text[r.at-slashes-1] == '\\' {
		slashes++
	}
	r.opens = r.length() - slashes%2
	return r, true
}

// plainCode finds what stands between two neighbouring runs of one line, so
// that a stray tick elsewhere changes nothing. It calls found with where the
// content begins and ends.
func plainCode(line string, found func(start, end int)) {
	open, ok := nextRun(line, 0)
	for ok {
		var end run
		if end, ok = nextRun(line, open.end); ok && open.opens == end.length() {
			found(open.end, end.at)
		}
		open = end
	}
}

// shortRuns are the lengths that are counted without a map.
const shortRuns = 16

// paddedCode pairs the runs of a paragraph as CommonMark 0.31.2 does (section
// 6.1): a run opens a span if a later run of the same length closes it, and
// is plain text otherwise. Inside a span a backslash escapes nothing. It calls
// found with the content of each span that has a space on each side, without
// those. Where a length comes last is all that it remembers, since a hostile
// paragraph has millions of runs.
func paddedCode(text string, found func(start, end int)) {
	var short [shortRuns]int
	var long map[int]int
	for r, ok := nextRun(text, 0); ok; r, ok = nextRun(text, r.end) {
		switch length := r.length(); {
		case length < shortRuns:
			short[length] = r.at
		case long == nil:
			long = map[int]int{length: r.at}
		default:
			long[length] = r.at
		}
	}
	for open, ok := nextRun(text, 0); ok; open, ok = nextRun(text, open.end) {
		last := 0
		if open.opens < shortRuns {
			last = short[open.opens]
		} else {
			last = long[open.opens]
		}
		if open.opens == 0 || last <= open.at {
			continue
		}
		end, _ := nextRun(text, open.end)
		for end.length() != open.opens {
			end, _ = nextRun(text, end.end)
		}
		if code := text[open.end:end.at]; len(code) > 2 && code[0] == ' ' && code[len(code)-1] == ' ' {
			found(open.end+1, end.at-1)
		}
		open = end
	}
}

// lines yields where each line begins and ends, without its end, which is LF,
// CRLF or CR.
func lines(text string) func(func(start, end int) bool) {
	return func(yield func(start, end int) bool) {
		cr := strings.IndexByte(text, '\r') // the next one at or after start, len(text) when there is none
		if cr < 0 {
			cr = len(text)
		}
		for start := 0; ; {
			// A line feed is looked for no further than the carriage return,
			// and the return only when it has been passed: each byte once.
			end := strings.IndexByte(text[start:cr], '\n')
			if end >= 0 {
				end += start
				if !yield(start, end) {
					return
				}
				start = end + 1
				continue
			}
			if !yield(start, cr) || cr == len(text) {
				return
			}
			start = cr + 1
			if strings.HasPrefix(text[start:], "\n") {
				start++
			}
			next := strings.IndexByte(text[start:], '\r')
			if cr = start + next; next < 0 {
				cr = len(text)
			}
		}
	}
}
