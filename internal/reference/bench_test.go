package reference

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// benchCatalog has 10,000 entries with descriptions of 1 KiB that name other
// tools, each with a description of its own.
func benchCatalog() (entries [][2][]byte, size int) {
	schema := []byte(`{"type":"object","properties":{"id":{"type":"string","description":"The id, as list_items gives it."},"limit":{"type":"number"}}}`)
	for i := range 10000 {
		text := fmt.Sprintf("Reads the item’s text. Use `get_item_%d` first, then call update_item_%d(id).\n", i, i+1) +
			strings.Repeat("It returns a list of entries, with \"quotes\" and a line end; see the guide for more.\n", 12)
		description, err := json.Marshal(text[:1024])
		if err != nil {
			panic(err)
		}
		entries = append(entries, [2][]byte{description, schema})
		size += len(description) + len(schema)
	}
	return entries, size
}

// BenchmarkCatalog reads the same catalog in five sessions, one after another
// so that time is work, beside a scan that only looks at each byte.
func BenchmarkCatalog(b *testing.B) {
	entries, size := benchCatalog()
	five := func(session func()) {
		for range 5 {
			session()
		}
	}
	b.Run("scan", func(b *testing.B) {
		b.SetBytes(int64(5 * size))
		for b.Loop() {
			five(func() {
				n := 0
				for _, e := range entries {
					for _, part := range e {
						for _, c := range part {
							if c == '\n' || c == '"' {
								n++
							}
						}
					}
				}
				runtime.KeepAlive(n)
			})
		}
	})
	for _, c := range []struct {
		name string
		want Want
	}{
		{"all", Want{Words: true, Descriptions: true, Unlisted: true}},
		{"places", Want{Words: true, Descriptions: true, Unlisted: true, Places: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(5 * size))
			kept := uint64(0)
			for b.Loop() {
				x := NewExtractor(c.want)
				sessions := make(chan *Texts, 5)
				five(func() {
					texts := &Texts{}
					for _, e := range entries {
						texts.Add("get_item", x.Tool(e[0], e[1]))
					}
					sessions <- texts
				})
				b.StopTimer()
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				kept = m.HeapAlloc
				runtime.KeepAlive(sessions)
				runtime.KeepAlive(x)
				b.StartTimer()
			}
			b.ReportMetric(float64(kept)/(1<<20), "MiB-kept")
		})
	}
}
