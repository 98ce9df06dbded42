package mcp

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
)

// linesOf reads a whole stream as the transport does: the lines, and the
// fault at its end.
func linesOf(stream io.Reader, left int) (lines []string, _ Fault) {
	reader := bufio.NewReaderSize(stream, 64<<10)
	meter := &meter{left: left}
	var buffer []byte
	for {
		text, f := readLine(reader, meter, &buffer)
		if f != nil {
			return lines, *f
		}
		lines = append(lines, string(text))
	}
}

func TestReadLine(t *testing.T) {
	t.Parallel()
	full := strings.Repeat("x", maxFrame)
	closed := Fault{Code: diagnosis.TransportClosed}
	noNewline := Fault{Code: diagnosis.TransportClosed, When: diagnosis.NoNewline}
	limit := Fault{Code: diagnosis.FrameLimit}
	for _, row := range []struct {
		name   string
		stream string
		left   int // of the bytes received in all; 0: maxTotal
		lines  []string
		end    Fault
	}{
		{name: "nothing", end: closed},
		{name: "LF", stream: "a\nb\n", lines: []string{"a", "b"}, end: closed},
		{name: "CRLF", stream: "a\r\nb\r\n", lines: []string{"a", "b"}, end: closed},
		{name: "both", stream: "a\nb\r\nc\n", lines: []string{"a", "b", "c"}, end: closed},
		{name: "a CR of its own is no line end", stream: "a\rb\n", lines: []string{"a\rb"}, end: closed},
		{name: "two CRs", stream: "a\r\r\n", lines: []string{"a\r"}, end: closed},
		{name: "empty lines", stream: "\n\r\n\n", lines: []string{"", "", ""}, end: closed},
		{name: "no newline", stream: "a\nb", lines: []string{"a"}, end: noNewline},
		{name: "half a CRLF", stream: "a\r", end: noNewline},
		{name: "only blanks without a newline", stream: "a\n \t", lines: []string{"a"}, end: closed},
		{name: "NUL and broken UTF-8", stream: "\x00\xff\n", lines: []string{"\x00\xff"}, end: closed},
		{name: "a line of the reader's size", stream: full[:64<<10] + "\n", lines: []string{full[:64<<10]}, end: closed},
		{name: "a byte less", stream: full[:64<<10-1] + "\nb\n", lines: []string{full[:64<<10-1], "b"}, end: closed},
		{name: "8 MiB", stream: full + "\nb\n", lines: []string{full, "b"}, end: closed},
		{name: "8 MiB and CRLF", stream: full + "\r\nb\n", lines: []string{full, "b"}, end: closed},
		{name: "a byte more than 8 MiB", stream: full + "x\n", end: limit},
		{name: "a byte more than 8 MiB and CRLF", stream: full + "x\r\n", end: limit},
		{name: "more than 8 MiB without an end", stream: full + full, end: limit},
		{name: "8 MiB without an end", stream: full, end: noNewline},
		{name: "all bytes in all", stream: "123\n567\n", left: 8, lines: []string{"123", "567"}, end: closed},
		{name: "a byte more in all", stream: "123\n5678\n", left: 8, lines: []string{"123"}, end: limit},
		{name: "blank lines count too", stream: "\n\n\n", left: 2, lines: []string{"", ""}, end: limit},
		{name: "a rest counts too", stream: "123\n56789", left: 8, lines: []string{"123"}, end: limit},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if row.left == 0 {
				row.left = maxTotal
			}
			streams := map[string]io.Reader{"whole": strings.NewReader(row.stream), "in halves": iotest.HalfReader(strings.NewReader(row.stream))}
			if len(row.stream) < 1<<20 {
				streams["a byte at a time"] = iotest.OneByteReader(strings.NewReader(row.stream))
			}
			for name, stream := range streams {
				lines, end := linesOf(stream, row.left)
				if end != row.end {
					t.Errorf("%s: ended by %+v, not %+v", name, end, row.end)
				}
				if len(lines) != len(row.lines) {
					t.Fatalf("%s: %d lines, not %d", name, len(lines), len(row.lines))
				}
				for i := range lines {
					if lines[i] != row.lines[i] {
						t.Errorf("%s: line %d is %.40q of %d bytes, not %.40q", name, i, lines[i], len(lines[i]), row.lines[i])
					}
				}
			}
		})
	}
}

// FuzzReadLine compares the frames that are read with what splitting the
// whole stream gives.
func FuzzReadLine(f *testing.F) {
	for _, seed := range []string{"", "\n", "a\r\nb\n", "a\r\r\n", "a\nb", "\r", "{}\n\n[]\r\n", "\x00\n\xff\n"} {
		f.Add([]byte(seed), 7)
	}
	f.Fuzz(func(t *testing.T, stream []byte, left int) {
		left = max(0, min(left, len(stream)))
		got, _ := linesOf(iotest.HalfReader(bytes.NewReader(stream)), left)
		// What fits is read line by line; the rest of it is no frame.
		var want []string
		parts := bytes.SplitAfter(stream[:left], []byte("\n"))
		for _, part := range parts[:len(parts)-1] {
			part = bytes.TrimSuffix(part, []byte("\n"))
			want = append(want, string(bytes.TrimSuffix(part, []byte("\r"))))
		}
		// The bytes are counted as they come, so what did not fit may have
		// been counted with them: never more lines, and those the same.
		if len(got) > len(want) {
			t.Fatalf("%d lines of %d bytes, not %d", len(got), left, len(want))
		}
		if diff := cmp.Diff(want[:len(got)], got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if left == len(stream) && len(got) != len(want) {
			t.Errorf("%d lines, not %d", len(got), len(want))
		}
	})
}

// handMade is a transport without a process: the test is its server. What it
// writes goes to the null device.
func handMade(t *testing.T) *made {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	gone := make(chan struct{})
	return &made{gone: gone, stdio: &stdio{
		exchange: &exchange{rootsDeclared: true},
		ended:    gone,
		stdin:    null,
		wanted:   make(chan struct{}),
		lines:    make(chan line),
		closed:   make(chan struct{}),
	}}
}

// made is such a transport, and how its command ends.
type made struct {
	*stdio
	gone chan struct{}
}

// says brings lines, each that long after it is wanted.
func (t *made) says(after time.Duration, texts ...string) {
	for _, text := range texts {
		<-t.wanted
		time.Sleep(after)
		t.lines <- line{text: []byte(text)}
	}
}

// TestWaiting: how long each way of waiting takes, by a clock that only moves
// when everybody waits.
func TestWaiting(t *testing.T) {
	t.Parallel()
	const ping = `{"jsonrpc":"2.0","id":"p","method":"ping"}`
	answer := `{"jsonrpc":"2.0","id":1,"result":{}}`
	call := func(ctx context.Context, s *stdio) *Fault {
		_, f := s.call(ctx, s.begin("initialize", "{}"))
		return f
	}
	idle := func(d time.Duration) func(context.Context, *stdio) *Fault {
		return func(ctx context.Context, s *stdio) *Fault { return s.idle(ctx, d) }
	}
	for _, row := range []struct {
		name   string
		server func(*made)
		act    func(context.Context, *stdio) *Fault
		code   diagnosis.Code // empty: no fault
		took   time.Duration
	}{
		{name: "an answer", act: call, took: 2 * time.Second, server: func(s *made) { s.says(2*time.Second, answer) }},
		{name: "an answer after noise and requests", act: call, took: 5 * time.Second, server: func(s *made) { s.says(time.Second, "log", ping, "", ping, answer) }},
		{name: "no answer", act: call, code: diagnosis.Timeout, took: 10 * time.Second, server: func(*made) {}},
		{name: "everything but an answer", act: call, code: diagnosis.Timeout, took: 10 * time.Second, server: func(s *made) {
			for {
				select {
				case <-s.wanted:
				case <-s.closed:
					return
				}
				time.Sleep(300 * time.Millisecond)
				select {
				case s.lines <- line{text: []byte(ping)}:
				case <-s.closed:
					return
				}
			}
		}},
		{name: "a closed stream", act: call, code: diagnosis.TransportClosed, took: 3 * time.Second, server: func(s *made) {
			<-s.wanted
			time.Sleep(3 * time.Second)
			s.lines <- line{fault: fault(diagnosis.TransportClosed)}
		}},
		// The command has ended and a descendant keeps stdout: what was
		// written may still come, but nobody is waited for until the timeout.
		{name: "a command that ended", act: call, code: diagnosis.TransportClosed, took: 2*time.Second + linger, server: func(s *made) {
			<-s.wanted
			time.Sleep(2 * time.Second)
			close(s.gone)
		}},
		{name: "a command that ended, with its answer to come", act: call, took: 2*time.Second + linger/2, server: func(s *made) {
			<-s.wanted
			time.Sleep(2 * time.Second)
			close(s.gone)
			time.Sleep(linger / 2)
			s.lines <- line{text: []byte(answer)}
		}},
		{name: "a window", act: idle(4 * time.Second), took: 4 * time.Second, server: func(*made) {}},
		{name: "a window of no time", act: idle(0), took: 0, server: func(*made) {}},
		{name: "a window with requests", act: idle(4 * time.Second), took: 4 * time.Second, server: func(s *made) { s.says(time.Second, ping, "log", ping) }},
		{name: "a window longer than the time", act: idle(20 * time.Second), code: diagnosis.Timeout, took: 10 * time.Second, server: func(*made) {}},
		{name: "a stray answer in the window", act: idle(4 * time.Second), code: diagnosis.MessageMalformed, took: time.Second, server: func(s *made) { s.says(time.Second, answer) }},
		// Nothing is due in the window: what a launcher left behind may serve on.
		{name: "a command that ended in the window", act: idle(4 * time.Second), took: 4 * time.Second, server: func(s *made) { close(s.gone) }},
		{name: "a stream that ended in the window", act: idle(4 * time.Second), code: diagnosis.TransportClosed, took: time.Second, server: func(s *made) {
			<-s.wanted
			time.Sleep(time.Second)
			s.lines <- line{fault: fault(diagnosis.TransportClosed)}
		}},
		{name: "a server that reads no more", act: func(ctx context.Context, s *stdio) *Fault { s.deaf = true; return call(ctx, s) }, code: diagnosis.TransportClosed, took: linger, server: func(*made) {}},
		{name: "a server that reads no more but answered", act: func(ctx context.Context, s *stdio) *Fault { s.deaf = true; return call(ctx, s) }, took: linger / 2, server: func(s *made) { s.says(linger/2, answer) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := handMade(t)
				var server sync.WaitGroup
				server.Go(func() { row.server(s) })
				defer server.Wait()
				defer close(s.closed)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				began := time.Now()
				f := row.act(ctx, s.stdio)
				if took := time.Since(began); took != row.took {
					t.Errorf("took %s, not %s", took, row.took)
				}
				code := diagnosis.Code("")
				if f != nil {
					code = f.Code
				}
				if code != row.code {
					t.Errorf("fault %q, not %q", code, row.code)
				}
			})
		})
	}
}

// TestLineWantedOnce: a line that was wanted in the window and did not come
// in it is the next one, and none is lost.
func TestLineWantedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := handMade(t)
		defer close(s.closed)
		go s.says(3*time.Second, `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`)
		if f := s.idle(t.Context(), time.Second); f != nil {
			t.Fatal(f)
		}
		m, f := s.call(t.Context(), s.begin("tools/list", "{}"))
		if f != nil || string(m.result) != `{"a":1}` {
			t.Errorf("result %s, fault %v", m.result, f)
		}
	})
}

func TestStrayLines(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		lines  []string
		count  int
		broken bool
	}{
		{lines: []string{"", " ", "\t\r"}, count: 0},
		{lines: []string{"log"}, count: 1},
		{lines: []string{"log", "", `{"level":1}`, "[]"}, count: 3},
		{lines: []string{`{"jsonrpc":"2.0","method":"x"}`}, count: 0},
		{lines: []string{"{", `  "jsonrpc": "2.0",`, `  "id": 1`, "}"}, count: 4, broken: true},
		{lines: []string{"  {  "}, count: 1, broken: true},
		{lines: []string{"}", `"jsonrpc": "2.0"`}, count: 2, broken: true},
	} {
		t.Run(fmt.Sprintf("%q", row.lines), func(t *testing.T) {
			t.Parallel()
			s := handMade(t)
			go s.says(0, row.lines...)
			for range row.lines {
				if _, _, f := s.handle(t.Context(), nil); f != nil {
					t.Fatal(f)
				}
			}
			if count, broken := s.strayLines(); count != row.count || broken != row.broken {
				t.Errorf("%d lines, broken %v; not %d, %v", count, broken, row.count, row.broken)
			}
		})
	}
}
