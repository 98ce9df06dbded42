// Package schema embeds the JSON Schema of the report.
package schema

import _ "embed"

// Guidance is the JSON Schema (draft-07) of mcpeval.guidance-report/v1.
//
//go:embed guidance-report.v1.schema.json
var Guidance []byte
