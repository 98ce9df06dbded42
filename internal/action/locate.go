package action

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Bounds of the search for a reference's line. Where one is reached, a
// second place cannot be ruled out and the annotation has no file.
const (
	maxSearchFiles = 20000
	maxSearchFile  = 1 << 20   // bytes of one file; larger ones are bundles and data
	maxSearchBytes = 128 << 20 // bytes of all files
	maxSearchNames = 4 << 20   // bytes of all files' names
	maxSearchTime  = 3 * time.Second
)

// Mention is a tool with the lines of the instructions that name it. The
// lines are compared with the workspace's files and go nowhere else.
type Mention struct {
	Tool  string
	Lines []string
}

// Position is a line of a file of the user's repository.
type Position struct {
	File string // relative to the workspace, with slashes
	Line int    // from 1
}

// Locate finds where the workspace holds each mention (CONTRACT.md section
// 7): in the named files the first line with the reference, else the one
// place in the tracked text files with the very line of the instructions. A
// tool that is not in the result has no place that can be told.
func (w *Workspace) Locate(ctx context.Context, mentions []Mention, named, tracked []string) map[string]Position {
	found := map[string]Position{}
	if len(mentions) == 0 {
		return found
	}
	for _, file := range named {
		text, ok := w.readText(file, w.root.Stat)
		for _, m := range mentions {
			if _, done := found[m.Tool]; !done && ok {
				if line := firstReference(text, m.Tool); line > 0 {
					found[m.Tool] = Position{filepath.ToSlash(filepath.Clean(file)), line}
				}
			}
		}
	}
	if len(named) > 0 {
		return found
	}
	ctx, cancel := context.WithTimeout(ctx, maxSearchTime)
	defer cancel()
	for tool, place := range w.search(ctx, tracked, mentions) {
		if place.File != "" {
			found[tool] = place
		}
	}
	return found
}

// Tracked returns the files that git tracks in the workspace; none where there
// are too many or git cannot say. It must be called before a server runs.
func (w *Workspace) Tracked(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, maxSearchTime)
	defer cancel()
	files, ok := w.tracked(ctx)
	if !ok {
		return nil
	}
	return files
}

// tracked asks git for the workspace's files. The repository belongs to
// another user than the container's, which git must be told to accept. Its
// configuration, and the user's, may be the work of the server: no command
// that they name is run, no file that they name is written, nothing is fetched.
func (w *Workspace) tracked(ctx context.Context) ([]string, bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	git := exec.CommandContext(ctx, "git", "-c", "safe.directory=*",
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath="+os.DevNull, "ls-files", "-z")
	git.Dir = w.Path
	git.Env = []string{
		"PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=",
	}
	git.WaitDelay = time.Second
	stdout, err := git.StdoutPipe()
	if err != nil || git.Start() != nil {
		return nil, false
	}
	list, err := io.ReadAll(io.LimitReader(stdout, maxSearchNames))
	if err != nil || len(list) == maxSearchNames {
		cancel()
	}
	if git.Wait() != nil || len(list) == maxSearchNames {
		return nil, false
	}
	files := strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00")
	return files, len(files) <= maxSearchFiles
}

// search returns for each tool the one place of its first line that has
// exactly one; a bound that is reached leaves nothing.
func (w *Workspace) search(ctx context.Context, files []string, mentions []Mention) map[string]Position {
	places := make([][][]Position, len(mentions)) // by mention and line, at most two
	for i, m := range mentions {
		places[i] = make([][]Position, len(m.Lines))
	}
	total := 0
	for _, file := range files {
		if ctx.Err() != nil {
			return nil
		}
		text, ok := w.readText(file, w.root.Lstat)
		if !ok {
			continue
		}
		if total += len(text); total > maxSearchBytes {
			return nil
		}
		plain := unescape(text)
		for i, m := range mentions {
			for j, line := range m.Lines {
				if ctx.Err() != nil {
					return nil
				}
				want := bytes.TrimSpace([]byte(line))
				for _, number := range linesWith(text, plain, want) {
					if len(places[i][j]) < 2 {
						places[i][j] = append(places[i][j], Position{file, number})
					}
				}
			}
		}
	}
	found := map[string]Position{}
	for i, m := range mentions {
		for j := range m.Lines {
			if len(places[i][j]) == 1 {
				found[m.Tool] = places[i][j][0]
				break
			}
		}
	}
	return found
}

// linesWith returns lines that hold the wanted text, as it is or as a string
// literal's content: all where there is at most one, else at least two.
func linesWith(text, plain, want []byte) []int {
	if len(want) == 0 {
		return nil
	}
	numbers := firstTwo(text, want)
	if len(numbers) < 2 && len(plain) != len(text) {
		numbers = append(numbers, firstTwo(plain, want)...)
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
	}
	return numbers
}

// firstTwo returns the first two lines, from 1, that hold the wanted text.
func firstTwo(text, want []byte) (numbers []int) {
	line, at := 1, 0
	for len(numbers) < 2 {
		next := bytes.Index(text[at:], want)
		if next < 0 {
			break
		}
		line += bytes.Count(text[at:at+next], []byte("\n"))
		numbers = append(numbers, line)
		end := bytes.IndexByte(text[at+next:], '\n')
		if end < 0 {
			break
		}
		at += next + end + 1
		line++
	}
	return numbers
}

// unescape takes the backslash away from escaped quotes, ticks and
// backslashes, as most languages write them in string literals. Lines stay
// where they are.
func unescape(text []byte) []byte {
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("`\"'\\", text[i+1]) >= 0 {
			i++
		}
		out = append(out, text[i])
	}
	return out
}

// firstReference returns the first line, from 1, that holds the tool's name
// as inline code, outside fenced code if there is such a line; else 0.
func firstReference(text []byte, tool string) int {
	fallback := 0
	fence := "" // the run that opened the fenced code we are in
	number := 0
	for line := range bytes.Lines(unescape(text)) {
		number++
		trimmed := strings.TrimSpace(string(line))
		rest := strings.TrimLeft(trimmed, "`")
		if rest == trimmed {
			rest = strings.TrimLeft(trimmed, "~")
		}
		run := trimmed[:len(trimmed)-len(rest)]
		switch {
		case fence == "" && len(run) >= 3 && (run[0] == '~' || !strings.Contains(rest, "`")):
			fence = run
		case fence != "" && rest == "" && strings.HasPrefix(run, fence):
			fence = ""
		}
		if !holdsReference(string(line), tool) {
			continue
		}
		if fence == "" {
			return number
		}
		if fallback == 0 {
			fallback = number
		}
	}
	return fallback
}

// holdsReference reports whether the name stands between two runs of ticks of
// one length, with or without a space on each side. With spaces the first run
// must be one that opens: in `a` x `b` the x is no code.
func holdsReference(line, tool string) bool {
	for at := 0; ; {
		next := strings.Index(line[at:], tool)
		if next < 0 {
			return false
		}
		before, after := line[:at+next], line[at+next+len(tool):]
		padded := strings.HasSuffix(before, " ") && strings.HasPrefix(after, " ")
		if padded {
			before, after = before[:len(before)-1], after[1:]
		}
		left := len(before) - len(strings.TrimRight(before, "`"))
		right := len(after) - len(strings.TrimLeft(after, "`"))
		if left > 0 && left == right && (!padded || runsOf(before, left)%2 == 1) {
			return true
		}
		at += next + 1
	}
}

// runsOf counts the runs of exactly that many ticks.
func runsOf(text string, length int) int {
	runs := 0
	for _, run := range strings.FieldsFunc(text, func(r rune) bool { return r != '`' }) {
		if len(run) == length {
			runs++
		}
	}
	return runs
}

// readText reads a regular file that is text and not large. A tracked link is
// not a second place of what it leads to, so it is not followed.
func (w *Workspace) readText(file string, stat func(string) (fs.FileInfo, error)) ([]byte, bool) {
	info, err := stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSearchFile {
		return nil, false
	}
	f, err := w.root.Open(file)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSearchFile))
	if err != nil || bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 {
		return nil, false
	}
	return text, true
}
