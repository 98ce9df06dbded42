package mcp

import (
	"bufio"
	"bytes"
	"io"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
)

// events reads a text/event-stream as the WHATWG HTML standard says, section
// 9.2.6, event by event. It is our own because the readers that are to be
// had bound neither a line nor an event nor the stream, and read ahead of the
// event that ends our exchange.
type events struct {
	reader  *bufio.Reader
	meter   *meter
	started bool   // the byte order mark, if any, is behind us
	afterCR bool   // an LF that comes now belongs to the last line's CR
	line    []byte // the line so far
}

func newEvents(body io.Reader, meter *meter) *events {
	return &events{reader: bufio.NewReaderSize(body, 64<<10), meter: meter}
}

// next returns the data of the next event of type message that has any. An
// event that the end of the stream cuts short is none.
func (e *events) next() ([]byte, error) {
	var data []byte
	some, kind := false, ""
	for {
		line, err := e.readLine()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			if (kind == "" || kind == "message") && !isBlank(data) {
				return data, nil
			}
			data, some, kind = nil, false, ""
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			if some {
				data = append(append(data, '\n'), value...)
			} else {
				// Take the line's memory over: an event may be 8 MiB.
				data, some, e.line = value, true, nil
			}
			if len(data) > maxFrame {
				return nil, fault(diagnosis.FrameLimit)
			}
		case "event":
			kind = string(value)
		}
	}
}

// maxLook is how many bytes are searched for a line's end at a time. Either
// end is searched for by itself, so a stream that has but one of the two
// would else be searched to the end of the buffer for every line.
const maxLook = 1 << 10

// readLine returns the next line without its end, which is LF, CRLF or CR. It
// does not wait for the LF of a CRLF: the line may be what the server waits
// for us to act on.
func (e *events) readLine() ([]byte, error) {
	e.line = e.line[:0]
	for {
		if _, err := e.reader.Peek(1); err != nil {
			return nil, err
		}
		chunk, _ := e.reader.Peek(min(e.reader.Buffered(), maxLook))
		skip := 0
		if !e.started {
			if chunk[0] == 0xef && len(chunk) < 3 {
				if chunk, _ = e.reader.Peek(3); len(chunk) < 3 {
					return nil, io.ErrUnexpectedEOF
				}
			}
			if bytes.HasPrefix(chunk, []byte("\xef\xbb\xbf")) {
				skip = 3
			}
			e.started = true
		} else if e.afterCR && chunk[0] == '\n' {
			skip = 1
		}
		e.afterCR = false
		part := chunk[skip:]
		end := bytes.IndexByte(part, '\n')
		before := part
		if end >= 0 {
			before = part[:end]
		}
		if cr := bytes.IndexByte(before, '\r'); cr >= 0 {
			end, e.afterCR = cr, true
		}
		used := len(chunk)
		if end >= 0 {
			part, used = part[:end], skip+end+1
		}
		if !e.meter.take(used) || len(e.line)+len(part) > maxFrame+len("data: ") {
			return nil, fault(diagnosis.FrameLimit)
		}
		e.line = append(e.line, part...)
		e.reader.Discard(used)
		if end >= 0 {
			return e.line, nil
		}
	}
}
