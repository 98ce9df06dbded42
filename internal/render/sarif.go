package render

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/org/mcpeval-guidance/internal/detect"
	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/protocol"
	"github.com/org/mcpeval-guidance/internal/result"
)

// What SARIF is made of is ours, as the wire reports are: the library that was
// tried (owenrumney/go-sarif v3, 18,000 lines) writes an empty list for each
// member that is not used, and locations: [] is what GitHub refuses a whole
// file for. The tests hold the bytes against the public schema.

const (
	sarifSchema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	sarifVersion = "2.1.0"
	toolName     = "mcpeval-guidance"
	toolAddress  = "https://github.com/org/mcpeval-guidance"
	// fingerprint is the name of ours, with the version of what it is made of.
	fingerprint = "mcpevalGuidance/v1"
	sourceRoot  = "%SRCROOT%"
)

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver sarifDriver `json:"driver"`
	} `json:"tool"`
	Invocations []sarifInvocation `json:"invocations"`
	ColumnKind  string            `json:"columnKind"`
	Results     []sarifResult     `json:"results"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID                   string      `json:"id"`
	ShortDescription     sarifText   `json:"shortDescription"`
	FullDescription      sarifText   `json:"fullDescription"`
	Help                 sarifText   `json:"help"`
	DefaultConfiguration sarifConfig `json:"defaultConfiguration"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifConfig struct {
	Level string `json:"level"`
}

type sarifInvocation struct {
	ExecutionSuccessful bool                `json:"executionSuccessful"`
	Notifications       []sarifNotification `json:"toolExecutionNotifications"`
}

type sarifNotification struct {
	Descriptor struct {
		ID diagnosis.Code `json:"id"`
	} `json:"descriptor"`
	Level   string    `json:"level"`
	Message sarifText `json:"message"`
}

type sarifResult struct {
	RuleID              string             `json:"ruleId"`
	RuleIndex           int                `json:"ruleIndex"`
	Level               string             `json:"level"`
	Message             sarifText          `json:"message"`
	Locations           []sarifLocation    `json:"locations"`
	PartialFingerprints map[string]string  `json:"partialFingerprints"`
	Suppressions        []sarifSuppression `json:"suppressions"` // in all results or in none (SARIF 2.1.0 section 3.27.23)
}

type sarifLocation struct {
	Physical *sarifPhysical `json:"physicalLocation,omitempty"`
	Logical  []sarifLogical `json:"logicalLocations"`
}

type sarifPhysical struct {
	Artifact struct {
		URI       string `json:"uri"`
		URIBaseID string `json:"uriBaseId"`
	} `json:"artifactLocation"`
	Region *sarifRegion `json:"region,omitempty"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

type sarifLogical struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

type sarifSuppression struct {
	Kind          string `json:"kind"`
	Status        string `json:"status"`
	Justification string `json:"justification"`
}

// SARIF renders a result as SARIF 2.1.0: one rule for each reason, defects as
// errors, candidates as warnings, causes of incomplete sessions as
// notifications, acknowledged candidates suppressed. places may lack a
// finding, which is then said of the whole file anchor, relative to the
// repository's root and without a line: GitHub's code scanning refuses a whole
// upload for one result that names no file. Without an anchor such a result
// has a logical location alone.
func SARIF(r result.Result, places map[Key]Position, anchor string) []byte {
	v := newView(r)
	run := sarifRun{ColumnKind: "utf16CodeUnits", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: toolName, Version: r.Version, InformationURI: toolAddress}
	invocation := sarifInvocation{ExecutionSuccessful: r.Complete, Notifications: []sarifNotification{}}
	for _, t := range Troubles(r) {
		n := sarifNotification{Level: "error", Message: sarifText{fmt.Sprintf("Incomplete in %s: %s.", v.troubled(t.In), t.Sentence)}}
		n.Descriptor.ID = t.Code
		invocation.Notifications = append(invocation.Notifications, n)
	}
	run.Invocations = []sarifInvocation{invocation}
	for index, rule := range detect.Rules() {
		level := "warning"
		if rule.Gate {
			level = "error"
		}
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: rule.ID, ShortDescription: sarifText{rule.Alert}, FullDescription: sarifText{rule.Alert + "."},
			Help: sarifText{v.help(rule)}, DefaultConfiguration: sarifConfig{level},
		})
		for _, f := range v.Of(rule) {
			out := sarifResult{
				RuleID: rule.ID, RuleIndex: index, Level: level,
				Message:             sarifText{sentence(f) + " " + v.where(f) + " " + f.Hint},
				Locations:           []sarifLocation{location(f, places, anchor)},
				PartialFingerprints: map[string]string{fingerprint: fingerprintOf(r.Server, f)},
				Suppressions:        []sarifSuppression{},
			}
			if v.IsAcknowledged(f) {
				out.Suppressions = append(out.Suppressions, sarifSuppression{"external", "accepted", "The tool is listed in acknowledge."})
			}
			run.Results = append(run.Results, out)
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	// Strings and numbers alone: there is nothing that cannot be encoded.
	_ = encoder.Encode(sarifLog{sarifSchema, sarifVersion, []sarifRun{run}})
	return text.Bytes()
}

// help is what a rule advises, for instructions and for descriptions.
func (v view) help(rule *detect.Rule) string {
	hint := rule.Hint.Sessions
	if v.profilesOnly() && v.protocols[0] == protocol.Default {
		hint = rule.Hint.Profiles
	}
	if rule.Hint.Descriptions != "" && v.Descriptions {
		hint += " " + rule.Hint.Descriptions
	}
	return hint
}

func location(f detect.Finding, places map[Key]Position, anchor string) sarifLocation {
	at := sarifLocation{Logical: []sarifLogical{{string(f.Tool), "function"}}}
	place, ok := places[KeyOf(f)]
	if ok && place.File != "" {
		at.Physical = &sarifPhysical{Region: &sarifRegion{place.Line}}
	} else if place.File = anchor; anchor != "" {
		at.Physical = &sarifPhysical{}
	}
	if at.Physical != nil {
		at.Physical.Artifact.URI, at.Physical.Artifact.URIBaseID = relative(place.File), sourceRoot
	}
	return at
}

// relative is a path as a relative URI (RFC 3986 section 4.2: a colon in the
// first segment would be read as a scheme).
func relative(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		segments[i] = strings.ReplaceAll(url.PathEscape(segment), ":", "%3A")
	}
	return strings.Join(segments, "/")
}

// fingerprintOf tells a finding from run to run: what it is about, and no
// line, session or version, which change while it stays.
func fingerprintOf(server name.Name, f detect.Finding) string {
	source := ""
	switch f.Source.Kind {
	case detect.Instructions:
		source = "instructions"
	case detect.Description:
		source = "description " + string(f.Source.Tool)
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{string(server), f.Rule.ID, string(f.Tool), source}, "\n")))
	return hex.EncodeToString(sum[:16])
}
