// Package schema embeds the JSON Schemas of the reports.
package schema

import _ "embed"

// Guidance is the JSON Schema (draft-07) of mcpeval.guidance-report/v1.
//
//go:embed guidance-report.v1.schema.json
var Guidance []byte

// GuidanceV2 is the JSON Schema (draft-07) of mcpeval-guidance.report/v2.
//
//go:embed guidance-report.v2.schema.json
var GuidanceV2 []byte
