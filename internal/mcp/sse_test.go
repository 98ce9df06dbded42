package mcp

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
)

// streams are what servers send, with the data that must come of it.
var streams = []struct {
	name   string
	stream string
	want   []string
}{
	{"LF", "event: message\ndata: {}\n\n", []string{"{}"}},
	{"CRLF", "event: message\r\ndata: {}\r\n\r\n", []string{"{}"}},
	{"CR", "event: message\rdata: {}\r\r", []string{"{}"}},
	{"all three line ends", "data: 1\r\ndata: 2\rdata: 3\n\r\n", []string{"1\n2\n3"}},
	{"LF then CR are two ends", "data: 1\n\rdata: 2\n\n", []string{"1", "2"}},
	{"no event line", "data: {}\n\n", []string{"{}"}},
	{"an event line without a value", "event\ndata: {}\n\n", []string{"{}"}},
	{"other types", "event: ping\ndata: no\n\nevent:message\ndata: yes\n\nevent: messages\ndata: no\n\nevent: Message\ndata: no\n\n", []string{"yes"}},
	{"the last event line counts", "event: ping\nevent: message\ndata: yes\n\nevent: message\nevent: ping\ndata: no\n\n", []string{"yes"}},
	{"a type ends with its event", "event: ping\n\ndata: yes\n\n", []string{"yes"}},
	{"a comment", ": hello\ndata: {}\n:\n: data: no\n\n: bye\n\n", []string{"{}"}},
	{"data over lines", "data: {\"a\":\ndata: 1}\n\n", []string{"{\"a\":\n1}"}},
	{"data without a space", "data:{}\n\n", []string{"{}"}},
	{"one space is the field's, the rest the data's", "data:  x \n\n", []string{" x "}},
	{"colons in the data", "data: a:b: c\n\n", []string{"a:b: c"}},
	{"an empty line of data inside", "data: a\ndata\ndata:\ndata: b\n\n", []string{"a\n\n\nb"}},
	{"a priming event", "id: 1\nretry: 500\ndata:\n\ndata: {}\n\n", []string{"{}"}},
	{"a priming event of blanks", "id: 1\ndata:  \ndata:\n\ndata: {}\n\n", []string{"{}"}},
	{"id, retry and unknown fields", "id: 7\nretry: x\nfoo: bar\nfoo\ndata: {}\n x: y\n data: no\n\n", []string{"{}"}},
	{"names are exact", "Data: no\nDATA: no\ndata : no\ndat: no\ndatas: no\ndata: yes\n\n", []string{"yes"}},
	{"a byte order mark", "\xef\xbb\xbfdata: {}\n\n", []string{"{}"}},
	{"a second byte order mark is no mark", "\xef\xbb\xbf\xef\xbb\xbfdata: no\n\ndata: yes\n\n", []string{"yes"}},
	{"a byte order mark later is no mark", "\n\xef\xbb\xbfdata: no\n\ndata: yes\n\n", []string{"yes"}},
	{"half a byte order mark", "\xef\xbb\ndata: yes\n\n", []string{"yes"}},
	{"the first bytes of a byte order mark and no more", "\xef\xbb", nil},
	{"no final blank line", "data: 1\n\ndata: 2\n", []string{"1"}},
	{"no final line end", "data: 1\n\ndata: 2", []string{"1"}},
	{"a CR at the end", "data: 1\n\r", []string{"1"}},
	{"blank lines", "\n\n\r\n\r\rdata: 1\n\n\n\n", []string{"1"}},
	{"NUL", "data: a\x00b\n\n", []string{"a\x00b"}},
	{"empty", "", nil},
}

// allEvents reads a whole stream with the reader under test.
func allEvents(stream io.Reader) (found []string, err error) {
	e := newEvents(stream, newMeter())
	for {
		data, err := e.next()
		if err != nil {
			return found, err
		}
		found = append(found, string(data))
	}
}

// modelEvents is the algorithm of the WHATWG HTML standard, sections 9.2.5
// and 9.2.6, word by word, over the whole stream at once; only decoding is
// left out, since a message must be valid UTF-8 as it comes. Of what it
// dispatches, blank data and other types are left out.
func modelEvents(stream string) (found []string) {
	stream = strings.TrimPrefix(stream, "\xef\xbb\xbf")
	stream = strings.ReplaceAll(stream, "\r\n", "\n")
	stream = strings.ReplaceAll(stream, "\r", "\n")
	lines := strings.Split(stream, "\n")
	lines = lines[:len(lines)-1] // what has no end is no line
	data, kind := "", ""
	for _, line := range lines {
		if line == "" {
			if data == "" {
				kind = ""
				continue
			}
			data = strings.TrimSuffix(data, "\n")
			if (kind == "" || kind == "message") && strings.TrimSpace(data) != "" {
				found = append(found, data)
			}
			data, kind = "", ""
			continue
		}
		field, value := line, ""
		if colon := strings.Index(line, ":"); colon == 0 {
			continue
		} else if colon > 0 {
			field, value = line[:colon], strings.TrimPrefix(line[colon+1:], " ")
		}
		switch field {
		case "event":
			kind = value
		case "data":
			data += value + "\n"
		}
	}
	return found
}

// pieces hands out a stream in pieces of random sizes.
type pieces struct {
	rest   string
	random *rand.Rand
}

func (p *pieces) Read(buffer []byte) (int, error) {
	if p.rest == "" {
		return 0, io.EOF
	}
	n := min(len(p.rest), len(buffer), 1+p.random.IntN(1+p.random.IntN(9)))
	copy(buffer, p.rest[:n])
	p.rest = p.rest[n:]
	return n, nil
}

func TestEvents(t *testing.T) {
	for _, row := range streams {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, modelEvents(row.stream)); diff != "" {
				t.Errorf("the model is wrong (-want +got):\n%s", diff)
			}
			for name, reader := range map[string]io.Reader{
				"at once":                strings.NewReader(row.stream),
				"byte by byte":           iotest.OneByteReader(strings.NewReader(row.stream)),
				"with the end's message": iotest.DataErrReader(strings.NewReader(row.stream)),
			} {
				got, err := allEvents(reader)
				if diff := cmp.Diff(row.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
				if err != io.EOF && err != io.ErrUnexpectedEOF {
					t.Errorf("%s: ended with %v", name, err)
				}
			}
		})
	}
}

// An event counts when its blank line is there, whatever end that has: the
// server may wait for us to act on it.
func TestEventsDoNotWaitForMore(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\n\r\n", "\r\r", "\r\n\r"} {
		reader, writer := io.Pipe()
		defer writer.Close()
		go io.WriteString(writer, "data: {}"+end)
		got := make(chan string, 1)
		go func() {
			data, _ := newEvents(reader, newMeter()).next()
			got <- string(data)
		}()
		select {
		case data := <-got:
			if data != "{}" {
				t.Errorf("end %q: got %q", end, data)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("end %q: the event is there, but next waits for more", end)
		}
	}
}

// endless repeats a text for ever and counts what was taken.
type endless struct {
	block string // many times the text, so that the source is fast
	read  int
}

func newEndless(text string) *endless { return &endless{block: strings.Repeat(text, 4096/len(text))} }

func (e *endless) Read(buffer []byte) (int, error) {
	n := copy(buffer, e.block[e.read%len(e.block):])
	e.read += n
	return n, nil
}

func TestEventsBounds(t *testing.T) {
	const (
		slack = 64 << 10 // the reader's buffer
		total = 2 << 20  // instead of maxTotal, for the race detector's sake
	)
	for _, row := range []struct {
		name  string
		text  string
		start string
		total int
		bound int
	}{
		{"a line without end", "x", "", maxTotal, maxFrame + 6 + slack},
		{"a data line without end", "x", "data: ", maxTotal, maxFrame + 6 + slack},
		{"data lines without end", "data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n", "", maxTotal, maxFrame * 5 / 4},
		{"empty data lines without end", "data\n", "", total, total + slack},
		{"comments for ever", ": keep-alive\n\n", "", total, total + slack},
		{"blank lines for ever", "\n", "", total, total + slack},
		{"CRs for ever", "\r", "", total, total + slack},
		{"priming events for ever", "id: 1\r\ndata:\r\n\r\n", "", total, total + slack},
		{"other events for ever", "event: ping\rdata: {}\r\r", "", total, total + slack},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			source := newEndless(row.text)
			_, err := newEvents(io.MultiReader(strings.NewReader(row.start), source), &meter{left: row.total}).next()
			var f *Fault
			if !errors.As(err, &f) || f.Code != diagnosis.FrameLimit {
				t.Errorf("ended with %v, want %s", err, diagnosis.FrameLimit)
			}
			if source.read > row.bound {
				t.Errorf("%d bytes were read, want at most %d", source.read, row.bound)
			}
		})
	}
}

// A stream of CRs once took a hundred times as long as one of LFs: the buffer
// was searched to its end for an LF, for every line.
func TestEventsLineEndsCostTheSame(t *testing.T) {
	cost := func(end string) (least time.Duration) {
		stream := strings.Repeat(end, 256<<10)
		for range 3 {
			began := time.Now()
			allEvents(strings.NewReader(stream))
			if elapsed := time.Since(began); least == 0 || elapsed < least {
				least = elapsed
			}
		}
		return least
	}
	lf, cr := cost("\n"), cost("\r")
	if cr > 12*lf {
		t.Errorf("CRs took %s, LFs %s", cr, lf)
	}
}

func TestEventsAtTheBound(t *testing.T) {
	largest := strings.Repeat("x", maxFrame)
	got, err := allEvents(strings.NewReader("data: " + largest + "\n\ndata: y\n\n"))
	if err != io.EOF || len(got) != 2 || got[0] != largest || got[1] != "y" {
		t.Errorf("an event of 8 MiB: %d events, %v", len(got), err)
	}
	half := largest[:maxFrame/2]
	got, err = allEvents(strings.NewReader("data:" + half + "\ndata:" + half[1:] + "\n\n"))
	if err != io.EOF || len(got) != 1 || len(got[0]) != maxFrame {
		t.Errorf("an event of 8 MiB in two lines: %d events, %v", len(got), err)
	}
	for _, stream := range []string{"data: x" + largest + "\n\n", "data:" + half + "\ndata:" + half + "\n\n"} {
		got, err = allEvents(strings.NewReader(stream))
		var f *Fault
		if !errors.As(err, &f) || f.Code != diagnosis.FrameLimit || len(got) != 0 {
			t.Errorf("an event of a byte more: %d events, %v", len(got), err)
		}
	}
}

// Two events in one piece must not share memory: the first may still be
// looked at when the next is read.
func TestEventsKeepTheirData(t *testing.T) {
	e := newEvents(strings.NewReader("data: first\n\ndata: other\n\n"), newMeter())
	first, _ := e.next()
	if _, err := e.next(); err != nil {
		t.Fatal(err)
	}
	if string(first) != "first" {
		t.Errorf("the first event became %q", first)
	}
}

func FuzzEvents(f *testing.F) {
	for i, row := range streams {
		f.Add([]byte(row.stream), uint64(i))
	}
	answer := `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}}`
	for i, stream := range []string{
		"\xef\xbb\xbf: hi\r\nid: 0\r\nretry: 3000\r\ndata: \r\n\r\nevent: message\r\nid: 1\r\ndata: " + answer + "\r\n\r\n",
		"data:" + answer + "\r\r: ping\r\r",
		"event: message\ndata: " + answer[:20] + "\ndata: " + answer[20:] + "\n\nevent: end\ndata: x\n\n",
	} {
		f.Add([]byte(stream), uint64(i))
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		want := modelEvents(string(stream))
		random := rand.New(rand.NewPCG(seed, 1))
		got, err := allEvents(&pieces{string(stream), random})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("in pieces (-model +got):\n%s", diff)
		}
		if err != io.EOF && err != io.ErrUnexpectedEOF {
			t.Errorf("ended with %v", err)
		}
		got, _ = allEvents(bytes.NewReader(stream))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("at once (-model +got):\n%s", diff)
		}
	})
}

func BenchmarkEvents(b *testing.B) {
	stream := []byte("event: message\r\ndata: " + strings.Repeat("x", 1<<20) + "\r\n\r\n")
	b.SetBytes(int64(len(stream)))
	for b.Loop() {
		if _, err := newEvents(bytes.NewReader(stream), newMeter()).next(); err != nil {
			b.Fatal(err)
		}
	}
}
