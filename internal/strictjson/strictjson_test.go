package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

const (
	clean    = "clean"
	notJSON  = "not JSON"
	notUTF8  = "not UTF-8"
	repeated = "repeated"
	deep     = "deep"
)

// faults says in words what a Verdict holds.
func (v Verdict) faults() string {
	var faults []string
	for _, f := range []struct {
		is   bool
		name string
	}{{!v.JSON, notJSON}, {!v.UTF8, notUTF8}, {v.Repeated, repeated}, {v.Deep, deep}} {
		if f.is {
			faults = append(faults, f.name)
		}
	}
	if len(faults) == 0 {
		return clean
	}
	return strings.Join(faults, ", ")
}

func arrays(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func objects(depth int) string {
	return strings.Repeat(`{"a":`, depth-1) + "{}" + strings.Repeat("}", depth-1)
}

var examineCases = []struct{ text, want string }{
	// Values.
	{`{}`, clean}, {`[]`, clean}, {`""`, clean}, {`0`, clean}, {`null`, clean}, {`true`, clean}, {`false`, clean},
	{" \t\r\n{ \t\r\n} \t\r\n", clean}, {`[ 1 , [ ] , { "a" : { "b" : [ null ] } } ]`, clean}, {`{"a":1,"b":2}`, clean},
	{``, notJSON}, {` `, notJSON}, {`nul`, notJSON}, {`nullx`, notJSON}, {`True`, notJSON}, {`NaN`, notJSON}, {`Infinity`, notJSON}, {`undefined`, notJSON},
	{`{`, notJSON}, {`}`, notJSON}, {`[`, notJSON}, {`]`, notJSON}, {`[}`, notJSON}, {`{]`, notJSON}, {`[1}`, notJSON}, {`{"a":1]`, notJSON},
	{`[1,]`, notJSON}, {`[,1]`, notJSON}, {`[,]`, notJSON}, {`[1 2]`, notJSON}, {`[1,,2]`, notJSON}, {`[1`, notJSON}, {`[1,`, notJSON},
	{`{"a":1,}`, notJSON}, {`{,}`, notJSON}, {`{"a"}`, notJSON}, {`{"a":}`, notJSON}, {`{"a" 1}`, notJSON}, {`{"a":1 "b":2}`, notJSON},
	{`{a:1}`, notJSON}, {`{'a':1}`, notJSON}, {`{1:1}`, notJSON}, {`{null:1}`, notJSON}, {`{"a":1,2}`, notJSON}, {`{"a":1,"b"}`, notJSON}, {`{"a"`, notJSON},
	{`[1] // x`, notJSON}, {`/**/[1]`, notJSON}, {"\ufeff{}", notJSON}, {"{}\x00", notJSON}, {"\x0b{}", notJSON}, {"\u00a0{}", notJSON},
	{`{}{}`, notJSON}, {`{} {}`, notJSON}, {`{},`, notJSON}, {`[]]`, notJSON}, {`1 2`, notJSON}, {`""x`, notJSON}, {"{}\n{}", notJSON},

	// Numbers.
	{`-0`, clean}, {`10`, clean}, {`-1.5`, clean}, {`0.0`, clean}, {`1e5`, clean}, {`1E+5`, clean}, {`1.25e-10`, clean}, {`123456789012345678901234567890`, clean}, {`1e99999`, clean},
	{`-`, notJSON}, {`+1`, notJSON}, {`01`, notJSON}, {`-01`, notJSON}, {`00`, notJSON}, {`1.`, notJSON}, {`.5`, notJSON}, {`-.5`, notJSON}, {`1.e5`, notJSON},
	{`1e`, notJSON}, {`1e+`, notJSON}, {`1e+-5`, notJSON}, {`1e5.5`, notJSON}, {`0x10`, notJSON}, {`1_000`, notJSON}, {`--1`, notJSON}, {`1a`, notJSON}, {`[01]`, notJSON}, {`[1.]`, notJSON},

	// Strings.
	{`"\"\\\/\b\f\n\r\t\u0041\uABCD\uabcd"`, clean}, {`"` + "\u00e4\u20ac\U0001f600\x7f\u2028" + `"`, clean},
	{`"`, notJSON}, {`"a`, notJSON}, {`"\"`, notJSON}, {`"\`, notJSON}, {`"\x41"`, notJSON}, {`"\a"`, notJSON}, {`"\'"`, notJSON}, {`"\U0041"`, notJSON},
	{`"\u"`, notJSON}, {`"\u123"`, notJSON}, {`"\u123g"`, notJSON}, {`"\u12`, notJSON}, {`"\u+123"`, notJSON}, {`"\u 123"`, notJSON}, {`'a'`, notJSON},
	{"\"\n\"", notJSON}, {"\"\t\"", notJSON}, {"\"\x00\"", notJSON}, {"\"\x1f\"", notJSON}, {"{\"a\nb\":1}", notJSON}, {"\"\\\n\"", notJSON},
	// Lone surrogates are allowed by RFC 8259's grammar.
	{`"\ud800"`, clean}, {`"\udc00\ud800"`, clean}, {`{"\ud800":1}`, clean},

	// UTF-8.
	{"\"\xff\"", notUTF8}, {"{\"\xc3\":1}", notUTF8}, {"\"\xed\xa0\x80\"", notUTF8}, {"\"\xc0\x80\"", notUTF8}, {"\"\xf4\x90\x80\x80\"", notUTF8}, {"\"a\xe2\x82\"", notUTF8},
	{"\xff{}", notJSON + ", " + notUTF8}, {"{}\xff", notJSON + ", " + notUTF8}, {"[\xff]", notJSON + ", " + notUTF8}, {"{\"a\":1\xff}", notJSON + ", " + notUTF8},

	// Repeated keys, at any depth and in any spelling.
	{`{"a":1,"a":1}`, repeated}, {`{"a":1,"b":2,"a":3}`, repeated}, {`{"":1,"":2}`, repeated}, {`{"a":1,"\u0061":2}`, repeated}, {`{"\u0061":1,"a":2}`, repeated},
	{`{"/":1,"\/":2}`, repeated}, {`{"\u002f":1,"\/":2}`, repeated}, {`{"\n":1,"\u000A":2}`, repeated}, {`{"\uABCD":1,"\uabcd":2}`, repeated},
	{`{"😀":1,"\ud83d\ude00":2}`, repeated}, {`{"\ud800":1,"\uD800":2}`, repeated}, {`{"\"":1,"\u0022":2}`, repeated},
	{`{"x":{"a":1,"a":2}}`, repeated}, {`[[{"a":1,"a":2}]]`, repeated}, {`[{"x":[{"y":{"a":[],"a":{}}}]},{"b":1}]`, repeated}, {`{"a":{"a":1},"a":2}`, repeated},
	{`{"a":1,"b":{"c":1},"a":[]}`, repeated}, {`{"a":1,"a":2`, notJSON}, {"{\"a\xff\":1,\"a\xff\":2}", notUTF8 + ", " + repeated},
	{`{"a":{"a":{"a":1}}}`, clean}, {`[{"a":1},{"a":1}]`, clean}, {`{"a":"a","b":"a"}`, clean}, {`{"a":1,"A":2}`, clean}, {`{"\ud800":1,"\ud801":2}`, clean},
	{`{"\ud800":1,"\udc00":2,"\ufffd":3}`, clean}, {`{"a":1,"a\u0000":2,"a ":3}`, clean}, {`{"b":{"a":1},"a":1,"c":{"a":1}}`, clean},
	{keys(1000), clean}, {strings.Replace(keys(1000), `"k999"`, `"k0"`, 1), repeated}, {strings.Replace(keys(9), `"k8"`, `"k\u0030"`, 1), repeated},

	// Nesting.
	{arrays(256), clean}, {arrays(257), deep}, {objects(256), clean}, {objects(257), deep},
	{`{"a":` + arrays(255) + `}`, clean}, {`{"a":` + arrays(256) + `}`, deep}, {arrays(257) + `x`, notJSON + ", " + deep}, {strings.Repeat("[", 300), notJSON + ", " + deep},
	{`[` + arrays(256) + `,{"a":1,"a":2}]`, repeated + ", " + deep}, {`{"a":` + arrays(300) + `,"b":1,"a":2}`, repeated + ", " + deep},
	{strings.Repeat("[", 1<<20), notJSON + ", " + deep}, {arrays(1 << 20), deep}, {objects(1 << 18), deep}, {strings.Repeat(`{"a":[`, 1<<18), notJSON + ", " + deep},
	{arrays(100) + strings.Repeat("]", 3), notJSON}, {`[` + strings.Repeat(arrays(200)+",", 10) + `1]`, clean},
}

func keys(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, `,"k%d":%d`, i, i)
	}
	return "{" + out.String()[1:] + "}"
}

func TestExamine(t *testing.T) {
	t.Parallel()
	for _, c := range examineCases {
		t.Run(fmt.Sprintf("%.40q", c.text), func(t *testing.T) {
			t.Parallel()
			if got := Examine([]byte(c.text)).faults(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// FuzzExamine compares with encoding/json, where that looks at the same: the
// grammar and, by decoding, whether a key comes twice.
func FuzzExamine(f *testing.F) {
	for _, c := range examineCases {
		if len(c.text) < 10000 {
			f.Add([]byte(c.text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v := Examine(text)
		if v.UTF8 != utf8.Valid(text) {
			t.Errorf("utf8 is %v", v.UTF8)
		}
		// json.Valid gives up at 10,000 levels.
		if bytes.Count(text, []byte("[")) > 5000 || bytes.Count(text, []byte("{")) > 5000 {
			return
		}
		if v.JSON != json.Valid(text) {
			t.Fatalf("json is %v", v.JSON)
		}
		if !v.JSON {
			return
		}
		depth, twice := depthAndTwice(text)
		if v.Deep != (depth > MaxDepth) {
			t.Errorf("deep is %v at a depth of %d", v.Deep, depth)
		}
		// Past MaxDepth keys are not kept, and encoding/json replaces what is
		// no UTF-8.
		if !v.Deep && v.UTF8 && !bytes.Contains(bytes.ToLower(text), []byte(`\ud`)) && v.Repeated != twice {
			t.Errorf("repeated is %v", v.Repeated)
		}
		sliced(t, bytes.TrimSpace(text))
	})
}

// depthAndTwice walks the tokens of encoding/json.
func depthAndTwice(text []byte) (deepest int, twice bool) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	type level struct {
		keys map[string]bool // nil in an array
		key  bool            // a key is due
	}
	var levels []level
	for {
		token, err := decoder.Token()
		if err != nil {
			return deepest, twice
		}
		top := len(levels) - 1
		if delim, ok := token.(json.Delim); ok && (delim == ']' || delim == '}') {
			levels = levels[:top]
			continue
		}
		if top >= 0 && levels[top].keys != nil {
			if levels[top].key {
				name := token.(string)
				twice = twice || levels[top].keys[name]
				levels[top].keys[name] = true
			}
			levels[top].key = !levels[top].key
		}
		switch token {
		case json.Delim('['):
			levels = append(levels, level{})
		case json.Delim('{'):
			levels = append(levels, level{keys: map[string]bool{}, key: true})
		}
		deepest = max(deepest, len(levels))
	}
}

// sliced checks that Members and Elements take a JSON value apart into the
// parts that encoding/json sees, all the way down.
func sliced(t *testing.T, value []byte) {
	t.Helper()
	if !json.Valid(value) || len(value) != len(bytes.TrimSpace(value)) {
		t.Fatalf("%q is no exact value", value)
	}
	var parts [][]byte
	wasObject := Members(value, func(key string, part []byte) bool {
		parts = append(parts, part)
		return true
	})
	wasArray := Elements(value, func(part []byte) bool {
		parts = append(parts, part)
		return true
	})
	if wasObject != (value[0] == '{') || wasArray != (value[0] == '[') || wasObject != IsObject(value) {
		t.Fatalf("%q: object %v, array %v", value, wasObject, wasArray)
	}
	if IsString(value) {
		var want string
		if err := json.Unmarshal(value, &want); err != nil {
			t.Fatal(err)
		}
		if got := strings.ToValidUTF8(Decoded(value), "\ufffd"); utf8.Valid(value) && !bytes.Contains(bytes.ToLower(value), []byte(`\ud`)) && got != want {
			t.Fatalf("%q decodes to %q, want %q", value, got, want)
		}
	}
	var compact bytes.Buffer
	if wasArray {
		compact.WriteByte('[')
		compact.Write(bytes.Join(parts, []byte(",")))
		compact.WriteByte(']')
		var got, want bytes.Buffer
		if json.Compact(&got, compact.Bytes()) != nil || json.Compact(&want, value) != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Fatalf("the Elements of %q are %q", value, parts)
		}
	}
	if len(value) < 2000 {
		for _, part := range parts {
			sliced(t, part)
		}
	}
}

func TestMembers(t *testing.T) {
	t.Parallel()
	type member struct{ Key, Value string }
	for _, c := range []struct {
		text   string
		object bool
		want   []member
	}{
		{``, false, nil}, {`null`, false, nil}, {`[]`, false, nil}, {`"{}"`, false, nil}, {`1`, false, nil}, {`  `, false, nil},
		{`{}`, true, nil}, {" { } ", true, nil},
		{`{"a":1}`, true, []member{{"a", "1"}}},
		{` { "a" : 1 , "b" : [ 1 , {} ] , "c" : "}" } `, true, []member{{"a", "1"}, {"b", "[ 1 , {} ]"}, {"c", `"}"`}}},
		{`{"a":{"b":{"c":[{}]}},"d":null}`, true, []member{{"a", `{"b":{"c":[{}]}}`}, {"d", "null"}}},
		{`{"\u0061\"\\":"\"","b\\":"\\"}`, true, []member{{`a"\`, `"\""`}, {`b\`, `"\\"`}}},
		{`{"a":-1.5e+3,"b":true,"":false}`, true, []member{{"a", "-1.5e+3"}, {"b", "true"}, {"", "false"}}},
		{"{\"a\"\n:\t1\r,\"a\":2}", true, []member{{"a", "1"}, {"a", "2"}}},
	} {
		var got []member
		object := Members([]byte(c.text), func(key string, value []byte) bool {
			got = append(got, member{key, string(value)})
			return true
		})
		if diff := cmp.Diff(c.want, got); object != c.object || diff != "" {
			t.Errorf("%q: object %v %s", c.text, object, diff)
		}
	}
	calls := 0
	if Members([]byte(`{"a":1,"b":2}`), func(string, []byte) bool { calls++; return false }); calls != 1 {
		t.Errorf("Members went on after false: %d calls", calls)
	}
}

func TestElements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		array bool
		want  []string
	}{
		{``, false, nil}, {`null`, false, nil}, {`{}`, false, nil}, {`"[]"`, false, nil}, {` `, false, nil},
		{`[]`, true, nil}, {` [ ] `, true, nil}, {`[1]`, true, []string{"1"}},
		{` [ 1 , "]" , [ ] , {"a":[1,2]} , null ] `, true, []string{"1", `"]"`, "[ ]", `{"a":[1,2]}`, "null"}},
		{`["\\","\"",[[],[]]]`, true, []string{`"\\"`, `"\""`, `[[],[]]`}},
	} {
		var got []string
		array := Elements([]byte(c.text), func(element []byte) bool {
			got = append(got, string(element))
			return true
		})
		if diff := cmp.Diff(c.want, got); array != c.array || diff != "" {
			t.Errorf("%q: array %v %s", c.text, array, diff)
		}
	}
	calls := 0
	if Elements([]byte(`[1,2]`), func([]byte) bool { calls++; return false }); calls != 1 {
		t.Errorf("Elements went on after false: %d calls", calls)
	}
}

func TestDecoded(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{
		`""`: "", `"a"`: "a", `"ä€😀"`: "ä€😀", `"\"\\\/\b\f\n\r\t"`: "\"\\/\b\f\n\r\t", `"\u0041\u00e4\u20AC\u0000"`: "A\u00e4\u20ac\x00",
		`"\ud83d\ude00"`: "\U0001f600", `"x\uD83D\uDE00y"`: "x\U0001f600y", `"\\u0041"`: `\u0041`, `"a\\"`: `a\`,
		`"\ud800"`: "\xed\xa0\x80", `"\udc00"`: "\xed\xb0\x80", `"\ud800x"`: "\xed\xa0\x80x", `"\ud800\u0041"`: "\xed\xa0\x80A",
		`"\ud800\ud83d\ude00"`: "\xed\xa0\x80\U0001f600", `"\udc00\ud800"`: "\xed\xb0\x80\xed\xa0\x80", `"\ud800\\dc00"`: "\xed\xa0\x80\\dc00",
		`"\ud800\n"`: "\xed\xa0\x80\n", `"\udbff\udfff"`: "\U0010ffff", `"\ufffd"`: "\ufffd",
	} {
		if got := Decoded([]byte(token)); got != want {
			t.Errorf("%s decodes to %q, want %q", token, got, want)
		}
	}
}

func BenchmarkExamine(b *testing.B) {
	const size = 8 << 20
	var tools strings.Builder
	for i := 0; tools.Len() < size; i++ {
		fmt.Fprintf(&tools, `{"name":"tool-%d","description":"%s","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}},`, i, strings.Repeat("words ", 100))
	}
	for name, text := range map[string]string{
		"page":           `{"jsonrpc":"2.0","id":2,"result":{"tools":[` + strings.TrimSuffix(tools.String(), ",") + `]}}`,
		"many keys":      keys(size / 14),
		"empty keys":     "[" + strings.Repeat(`{"":{"":1}},`, size/12) + "1]",
		"nested":         arrays(size / 2),
		"nested objects": objects(size / 6),
		"one string":     `"` + strings.Repeat("a", size) + `"`,
		"escapes":        `"` + strings.Repeat(`\u0041`, size/6) + `"`,
		"escaped keys":   strings.ReplaceAll(keys(size/19), `"k`, `"\u006b`),
	} {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if v := Examine([]byte(text)); !v.JSON {
					b.Fatal("no JSON")
				}
			}
		})
	}
}
