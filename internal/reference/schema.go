package reference

import (
	"github.com/org/mcpeval-guidance/internal/strictjson"
)

// The keywords of JSON Schema whose values are schemas, lists of them, or
// objects of them (JSON Schema 2020-12, core, section 10, and draft-07).
var (
	schemaKeys = map[string]bool{
		"additionalProperties": true, "additionalItems": true, "items": true, "contains": true, "propertyNames": true, "not": true,
		"if": true, "then": true, "else": true, "unevaluatedItems": true, "unevaluatedProperties": true, "contentSchema": true,
	}
	listKeys   = map[string]bool{"allOf": true, "anyOf": true, "oneOf": true, "prefixItems": true, "items": true}
	objectKeys = map[string]bool{
		"properties": true, "patternProperties": true, "$defs": true, "definitions": true, "dependentSchemas": true, "dependencies": true,
	}
)

// actionParameters select what a tool does: their values read like tools
// (CONTRACT.md section 3.4, rule 6).
var actionParameters = map[string]bool{"action": true, "operation": true, "method": true, "command": true, "mode": true, "op": true}

// addTool reads the texts of one catalog entry and what its schema says.
func (b *builder) addTool(description, inputSchema []byte) {
	if strictjson.IsString(description) {
		b.add(strictjson.Decoded(description))
	}
	strictjson.Members(inputSchema, func(key string, value []byte) bool {
		if key == "properties" {
			strictjson.Members(value, func(parameter string, _ []byte) bool {
				b.tool.acts = b.tool.acts || actionParameters[parameter]
				return true
			})
		}
		return true
	})
	b.schema(inputSchema)
}

// schema reads a schema and its subschemas. Nesting is bounded by what strict
// JSON may have.
func (b *builder) schema(value []byte) {
	strictjson.Members(value, func(key string, value []byte) bool {
		switch {
		case key == "description" && strictjson.IsString(value):
			b.add(strictjson.Decoded(value))
		case key == "const":
			b.value(value)
		case key == "enum":
			strictjson.Elements(value, func(element []byte) bool { b.value(element); return true })
		case objectKeys[key]:
			strictjson.Members(value, func(property string, sub []byte) bool {
				if key == "properties" {
					b.schemaWord(property)
				}
				b.schema(sub)
				return true
			})
		default:
			if listKeys[key] {
				strictjson.Elements(value, func(element []byte) bool { b.schema(element); return true })
			}
			if schemaKeys[key] {
				b.schema(value)
			}
		}
		return true
	})
}

func (b *builder) value(value []byte) {
	if strictjson.IsString(value) {
		b.schemaWord(strictjson.Decoded(value))
	}
}

// schemaWord keeps a word that a text may call for and that is no tool.
func (b *builder) schemaWord(word string) {
	if b.x.want.Unlisted && callable(word) {
		b.tool.words = append(b.tool.words, hashOf(word))
	}
}
