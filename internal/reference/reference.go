// Package reference is the one detector of tool names in texts: inline code,
// plain words, descriptions, and names that no session lists (CONTRACT.md
// sections 3.2 and 3.4).
//
// Reading and judging are apart, because a session's texts pass by before it
// is known which names any session lists: an Extractor turns a text into what
// it could name, bounded, and Match and Unlisted judge that later. Nothing is
// guessed: the same texts give the same references. The package is pure. It
// must never do I/O, and of a text it keeps names and, where they are asked
// for, the surroundings of names.
package reference

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/org/mcpeval-guidance/internal/name"
)

// Bounds of what one run keeps (CONTRACT.md section 4.4). A mention that
// passes one is not lost without a word: Overflow says so, and the run must
// end incomplete. Places are only for annotations, so they just end.
const (
	maxMentions    = 1 << 18  // different ones of one text, or of one tool's texts
	maxKept        = 48 << 20 // bytes of all mentions and schema words of a run
	maxCounted     = 4 << 20  // bytes of those that are only counted
	maxOdd         = 1 << 20  // bytes of all odd chunks of a run, see words.go
	maxSurrounding = 24 << 20 // bytes of text around the places of a run
	maxTextAround  = 1 << 20  // the same of one text
	maxPlaces      = 8        // of a name in one text
	maxCached      = 1 << 17  // texts that are known again
	largeText      = 64 << 10 // bytes; above it one text is read at a time
	tallied        = 320      // bytes that a text takes whatever it names
)

// Want is what an Extractor looks for. Inline code it always finds.
type Want struct {
	Words        bool // unmistakable plain words; without it they are found, as far as there is room, to be counted
	Descriptions bool // what the texts of tools name; without it only their schema words are read
	Unlisted     bool // words that the text calls for as tools, and schema words
	Places       bool // the surroundings of each name, for Reference.Places
}

// Extractor turns texts into what they could name. There is one a run; it is
// safe for concurrent use. The same text is read and kept once, however many
// sessions serve it.
type Extractor struct {
	want     Want
	kept     atomic.Int64 // bytes of mentions and schema words
	counted  atomic.Int64 // bytes of plain words that are only counted
	odd      atomic.Int64 // bytes of odd chunks
	around   atomic.Int64 // bytes of surroundings
	overflow atomic.Bool
	oddLost  atomic.Bool

	mu       sync.Mutex
	cache    map[textKey]*entry
	large    sync.Mutex // held while a large text is read
	builders sync.Pool
}

// textKey tells texts apart: two hashes of 64 bits, which nobody can foresee.
type textKey struct {
	first, second uint64
	lengths       [2]int
}

// entry is a text that is read once, by the session that comes first.
type entry struct {
	once sync.Once
	tool *Tool
}

// NewExtractor makes the Extractor of a run.
func NewExtractor(want Want) *Extractor {
	return &Extractor{want: want, cache: map[textKey]*entry{}}
}

// Overflow reports whether a bound was reached that could hide a mention of a
// name that the run lists. The run must then end incomplete (finding-limit).
func (x *Extractor) Overflow(run *Listed) bool {
	if x == nil {
		return false
	}
	return x.overflow.Load() || x.want.Words && x.oddLost.Load() && len(run.odd) > 0
}

// Text is what one text could name, or all texts of one tool; not the prose.
type Text struct {
	key    textKey
	code   []uint64 // hashes of names, each once, in order of place
	words  []uint64
	pairs  []pair
	called []called
	odd    []string
	places []place // by name, then by place
	around []excerpt
}

// pair is a word with a slash on one side or both: it counts where its
// neighbours are known unmistakable names.
type pair struct {
	name        uint64
	left, right uint64 // the neighbours' hashes, 0 for no slash on that side
}

// called is a word that a text calls for as a tool.
type called struct {
	name   name.Name
	before uint64 // hash of the word directly before it, 0 for none
}

// Tool is what the texts of one tool's catalog entry could name, and what its
// input schema says that bears on unlisted names.
type Tool struct {
	Text
	acts  bool     // it has a parameter that selects an action (rule 6)
	words []uint64 // hashes of property names, enum and const values (rule 4), sorted
}

// Texts is what all texts of one session could name. The zero value is that
// of a session without texts.
type Texts struct {
	Instructions *Text // nil when absent
	tools        []described
}

type described struct {
	name name.Name
	tool *Tool
}

// Add takes the next tool of the catalog.
func (t *Texts) Add(tool name.Name, said *Tool) {
	t.tools = append(t.tools, described{tool, said})
}

// Same reports whether two texts are the same, word for word. Both may be
// nil, for no text.
func (t *Text) Same(other *Text) bool {
	return t == other || t != nil && other != nil && t.key == other.key
}

// seed makes hashes unforeseeable: no server can write two names, or two
// texts, that are taken for one. Among 64-bit hashes of a million names two
// are equal by chance once in ten million runs.
var seed, otherSeed = maphash.MakeSeed(), maphash.MakeSeed()

// hashOf returns a name's hash, never 0.
func hashOf(s string) uint64 { return max(1, maphash.String(seed, s)) }

// Text reads a session's instructions, which must be valid UTF-8.
func (x *Extractor) Text(text string) *Text {
	key := textKey{maphash.String(seed, text), maphash.String(otherSeed, text), [2]int{len(text), -1}}
	return &x.once(key, len(text), func(b *builder) { b.add(text) }).Text
}

// Tool reads one catalog entry: its description and its inputSchema, the raw
// JSON values, which must have been found clean; nil where absent. The texts
// of a tool are its description and every description string of the schema
// and its subschemas (CONTRACT.md section 3.4); a description that is no
// string is none.
func (x *Extractor) Tool(description, inputSchema []byte) *Tool {
	key := textKey{maphash.Bytes(seed, description), maphash.Bytes(otherSeed, inputSchema), [2]int{len(description), len(inputSchema)}}
	return x.once(key, len(description)+len(inputSchema), func(b *builder) { b.addTool(description, inputSchema) })
}

// once reads a text, or finds it read.
func (x *Extractor) once(key textKey, size int, read func(*builder)) *Tool {
	x.mu.Lock()
	e := x.cache[key]
	if e == nil {
		e = &entry{}
		if len(x.cache) < maxCached {
			x.cache[key] = e
		}
	}
	x.mu.Unlock()
	e.once.Do(func() {
		if size > largeText {
			x.large.Lock()
			defer x.large.Unlock()
		}
		b, _ := x.builders.Get().(*builder)
		if b == nil {
			b = &builder{x: x, seen: map[uint64]uint8{}}
		}
		read(b)
		e.tool = b.finish(key)
		if len(b.seen) < 1<<12 {
			b.reset()
			x.builders.Put(b)
		}
	})
	return e.tool
}
