package reference

import (
	"strings"

	"github.com/org/mcpeval-guidance/internal/strictjson"
)

// addTool reads the texts of one tool: its description and those of its input
// schema.
func (b *builder) addTool(description, inputSchema []byte) {
	if strictjson.IsString(description) {
		b.addToken(description)
	}
	if len(inputSchema) > 0 {
		w := walker{text: inputSchema, b: b}
		w.schema(true)
	}
}

// addToken reads a JSON string. A lone surrogate is no character.
func (b *builder) addToken(token []byte) {
	if b.x.want.Descriptions {
		b.add(strings.ToValidUTF8(strictjson.Decoded(token), "\uFFFD"))
	}
}

// walker goes once through a schema that is known to be clean JSON, nested no
// deeper than strictjson allows.
type walker struct {
	text []byte
	pos  int
	b    *builder
}

// schema reads a schema, or an array of them. Where parameters is true, its
// properties are the tool's parameters.
func (w *walker) schema(parameters bool) {
	switch w.peek() {
	case '[':
		w.elements(func() { w.schema(parameters) })
	case '{':
		w.members(func(key string) { w.keyword(key, parameters) })
	default:
		w.skip()
	}
}

// keyword reads a keyword's value: subschemas, as JSON Schema 2020-12 and its
// drafts have them, and the words of rule 4. Anything else is no schema.
func (w *walker) keyword(key string, parameters bool) {
	switch key {
	case "description":
		if token := w.skip(); token[0] == '"' {
			w.b.addToken(token)
		}
	case "properties":
		w.mapOf(func(property string) {
			w.b.schemaWord(property)
			if parameters && selectsAction(property) {
				w.b.tool.acts = true
			}
			w.schema(false)
		})
	case "$defs", "definitions", "patternProperties", "dependentSchemas", "dependencies":
		w.mapOf(func(string) { w.schema(false) })
	case "allOf", "anyOf", "oneOf", "if", "then", "else":
		w.schema(parameters)
	case "items", "prefixItems", "additionalItems", "unevaluatedItems", "contains", "not",
		"additionalProperties", "unevaluatedProperties", "propertyNames", "contentSchema":
		w.schema(false)
	case "enum", "const":
		w.values()
	default:
		w.skip()
	}
}

// mapOf reads an object whose members are each one subschema.
func (w *walker) mapOf(member func(key string)) {
	if w.peek() != '{' {
		w.skip()
		return
	}
	w.members(member)
}

// values takes the strings of an enum or a const, at any depth.
func (w *walker) values() {
	switch w.peek() {
	case '[':
		w.elements(w.values)
	case '{':
		w.members(func(string) { w.values() })
	case '"':
		w.b.schemaWord(strictjson.Decoded(w.skip()))
	default:
		w.skip()
	}
}

// selectsAction has the parameters of rule 6.
func selectsAction(parameter string) bool {
	switch parameter {
	case "action", "operation", "method", "command", "mode", "op":
		return true
	}
	return false
}

// schemaWord keeps a word of rule 4 where it could hide an unlisted name.
func (b *builder) schemaWord(s string) {
	if !b.x.want.Unlisted || !callable(s) {
		return
	}
	if len(b.tool.words) == maxMentions {
		b.full = true
		return
	}
	b.tool.words = append(b.tool.words, hashOf(s))
}

// peek returns the first byte of the value that comes next.
func (w *walker) peek() byte {
	w.pos = strictjson.SkipBlanks(w.text, w.pos)
	return w.text[w.pos]
}

// members reads an object. member must read the value.
func (w *walker) members(member func(key string)) {
	w.pos++
	for w.peek() != '}' {
		if w.text[w.pos] == ',' {
			w.pos++
			w.peek()
		}
		key := strictjson.Decoded(w.skip())
		w.peek()
		w.pos++ // the colon
		w.peek()
		member(key)
	}
	w.pos++
}

// elements reads an array. element must read the value.
func (w *walker) elements(element func()) {
	w.pos++
	for w.peek() != ']' {
		if w.text[w.pos] == ',' {
			w.pos++
			w.peek()
		}
		element()
	}
	w.pos++
}

// skip passes the value that comes next and returns it.
func (w *walker) skip() []byte {
	w.peek()
	start, depth := w.pos, 0
	for {
		switch w.text[w.pos] {
		case '"':
			w.pos++
			for w.text[w.pos] != '"' {
				if w.text[w.pos] == '\\' {
					w.pos++
				}
				w.pos++
			}
			w.pos++
		case '{', '[':
			depth++
			w.pos++
		case '}', ']':
			depth--
			w.pos++
		case ',', ':', ' ', '\t', '\n', '\r':
			w.pos++
			continue
		default: // a number or a literal
			for w.pos < len(w.text) && strings.IndexByte(",]} \t\n\r", w.text[w.pos]) < 0 {
				w.pos++
			}
		}
		if depth == 0 {
			return w.text[start:w.pos]
		}
	}
}
