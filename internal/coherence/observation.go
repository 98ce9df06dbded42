package coherence

import (
	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/profile"
)

// Observation is what discovery learned of one profile: a catalog and
// instructions, or one diagnosis.
type Observation struct {
	Profile      profile.Profile
	Tools        []string             // sorted, unique; nil when incomplete
	Instructions *string              // nil when absent or incomplete
	Diagnosis    *diagnosis.Diagnosis // nil when complete
	NoTools      bool                 // complete, but the tools capability is not declared
	Noise        int                  // lines on stdout that were no MCP messages
}
