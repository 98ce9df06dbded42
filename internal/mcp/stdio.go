package mcp

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"time"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/proc"
)

// linger is how long a server whose command has ended, or whose stdin is
// closed, may still bring what it had written: descendants that keep stdout
// open would otherwise hold us until the timeout.
const linger = time.Second

// OpenStdio starts a server that speaks over its stdin and stdout (MCP
// 2025-06-18, transports, stdio).
func OpenStdio(command proc.Command, client Client) (*Session, *Fault) {
	childIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, fault(diagnosis.SpawnFailed)
	}
	stdout, childOut, err := os.Pipe()
	if err != nil {
		childIn.Close()
		stdin.Close()
		return nil, fault(diagnosis.SpawnFailed)
	}
	process, err := proc.Start(command, childIn, childOut)
	childIn.Close()
	childOut.Close()
	if err != nil {
		stdin.Close()
		stdout.Close()
		return nil, &Fault{Code: diagnosis.SpawnFailed, Detail: StartDetail(err)}
	}
	x := newExchange(client)
	t := &stdio{
		exchange: x,
		process:  process,
		ended:    process.Done(),
		stdin:    stdin,
		stdout:   stdout,
		wanted:   make(chan struct{}),
		lines:    make(chan line),
		closed:   make(chan struct{}),
	}
	go t.read()
	return newSession(t, x, client), nil
}

type stdio struct {
	*exchange
	process *proc.Process
	ended   <-chan struct{} // the command itself has ended
	stdin   *os.File
	stdout  *os.File

	wanted chan struct{} // a line is to be read
	lines  chan line
	closed chan struct{}
	asked  bool // a line was wanted and has not come yet
	deaf   bool // a write failed: the server reads no more

	noiseLines  int
	brokenLines bool
}

// line is one line of stdout without its end, or why there is none. Its text
// is valid until the next one is wanted.
type line struct {
	text  []byte
	fault *Fault
}

// read brings one line each time one is wanted, so that at most one is in
// memory.
func (t *stdio) read() {
	reader := bufio.NewReaderSize(t.stdout, 64<<10)
	meter := newMeter()
	var buffer []byte
	for {
		select {
		case <-t.wanted:
		case <-t.closed:
			return
		}
		var l line
		// A blank line is nothing to anyone, and a flood of them is cheap here.
		for l.text, l.fault = readLine(reader, meter, &buffer); l.fault == nil && isBlank(l.text); {
			l.text, l.fault = readLine(reader, meter, &buffer)
		}
		select {
		case t.lines <- l:
		case <-t.closed:
			return
		}
	}
}

// readLine reads up to a newline and returns the line without LF or CRLF.
// buffer is scratch for lines longer than the reader's own.
func readLine(reader *bufio.Reader, meter *meter, buffer *[]byte) ([]byte, *Fault) {
	long := (*buffer)[:0]
	for {
		if _, err := reader.Peek(1); err != nil {
			f := fault(diagnosis.TransportClosed)
			if !isBlank(long) {
				f.When = diagnosis.NoNewline
			}
			return nil, f
		}
		// What is there and no more: a frame that is too large is known before
		// its end, or the reader's buffer, is full.
		part, _ := reader.Peek(reader.Buffered())
		ended := false
		if end := bytes.IndexByte(part, '\n'); end >= 0 {
			part, ended = part[:end+1], true
		}
		reader.Discard(len(part))
		if !meter.take(len(part)) {
			return nil, fault(diagnosis.FrameLimit)
		}
		if ended && len(long) == 0 {
			return trimEnd(part)
		}
		long = append(long, part...)
		*buffer = long
		switch {
		case ended:
			return trimEnd(long)
		case len(long) > maxFrame+1, len(long) > maxFrame && long[maxFrame] != '\r':
			return nil, fault(diagnosis.FrameLimit)
		}
	}
}

func trimEnd(text []byte) ([]byte, *Fault) {
	text = bytes.TrimSuffix(text[:len(text)-1], []byte("\r"))
	if len(text) > maxFrame {
		return nil, fault(diagnosis.FrameLimit)
	}
	return text, nil
}

// receive returns the next line; ok is false when until came first.
func (t *stdio) receive(ctx context.Context, until <-chan time.Time) (text []byte, ok bool, _ *Fault) {
	ended := t.ended
	var lingered <-chan time.Time
	switch {
	case until != nil:
		// Nothing is due in the settle window: what a launcher that has ended
		// started may serve on. The end of stdout is the server's end.
		ended = nil
	case t.deaf:
		ended, lingered = nil, time.After(linger)
	}
	want := t.wanted
	if t.asked {
		want = nil
	}
	for {
		select {
		case want <- struct{}{}:
			t.asked, want = true, nil
		case l := <-t.lines:
			t.asked = false
			return l.text, l.fault == nil, l.fault
		case <-ended:
			ended, lingered = nil, time.After(linger)
		case <-lingered:
			return nil, false, fault(diagnosis.TransportClosed)
		case <-until:
			return nil, false, nil
		case <-ctx.Done():
			return nil, false, contextFault()
		}
	}
}

// handle receives one line and answers it where it is a request.
func (t *stdio) handle(ctx context.Context, until <-chan time.Time) (m message, ok bool, _ *Fault) {
	text, ok, err := t.receive(ctx, until)
	if err != nil || !ok {
		return message{}, ok, err
	}
	m, replies, err := t.take(text)
	if err == nil && m.class == noise && !isBlank(text) {
		t.noiseLines++
		t.brokenLines = t.brokenLines || looksBroken(text)
	}
	for _, reply := range replies {
		if err == nil {
			err = t.write(ctx, reply)
		}
	}
	return m, true, err
}

// looksBroken recognises a line of an indented message.
func looksBroken(text []byte) bool {
	text = bytes.TrimSpace(text)
	return string(text) == "{" || bytes.HasPrefix(text, []byte(`"jsonrpc"`))
}

func (t *stdio) call(ctx context.Context, request []byte) (message, *Fault) {
	if err := t.write(ctx, request); err != nil {
		return message{}, err
	}
	for {
		m, _, err := t.handle(ctx, nil)
		if err != nil || m.class == response {
			return m, t.ending(err)
		}
	}
}

// ending adds how the command ended where that is why nothing came.
func (t *stdio) ending(f *Fault) *Fault {
	if f != nil && f.Code == diagnosis.TransportClosed {
		f.Detail = EndDetail(t.process)
		f.Detail.Noise = t.noiseLines
	}
	return f
}

func (t *stdio) notify(ctx context.Context, notification []byte) *Fault {
	return t.write(ctx, notification)
}

func (t *stdio) idle(ctx context.Context, d time.Duration) *Fault {
	if d == 0 {
		return nil
	}
	until := time.NewTimer(d)
	defer until.Stop()
	for {
		if _, ok, err := t.handle(ctx, until.C); err != nil || !ok {
			return t.ending(err)
		}
	}
}

// write sends one frame. A server that closed its stdin may have written its
// answer all the same, so a failed write is not a fault yet.
func (t *stdio) write(ctx context.Context, frame []byte) *Fault {
	if t.deaf {
		return nil
	}
	written := make(chan error, 1)
	go func() {
		_, err := t.stdin.Write(append(frame, '\n'))
		written <- err
	}()
	select {
	case err := <-written:
		t.deaf = err != nil
		return nil
	case <-ctx.Done():
		return contextFault() // close ends the write
	}
}

func (t *stdio) strayLines() (lines int, broken bool) { return t.noiseLines, t.brokenLines }

func (t *stdio) close() {
	close(t.closed)
	t.stdin.Close()
	t.process.Stop()
	t.stdout.Close()
}
