// Package protocol holds the versions of the Model Context Protocol that can be
// spoken, as data. It must never hold behaviour: what differs between versions
// is in this table.
package protocol

// Version names one protocol version. Its text is public interface: it is the
// value of --protocol and of the reports' protocol versions.
type Version string

// The five versions. A version's own changelog is the source of its row below.
const (
	V20241105 Version = "2024-11-05"
	V20250326 Version = "2025-03-26"
	V20250618 Version = "2025-06-18"
	V20251125 Version = "2025-11-25"
	V20260728 Version = "2026-07-28"
)

// Default is the version that is spoken where none is asked for.
const Default = V20250618

var table = []struct {
	version   Version
	stateless bool // no initialize: server/discover, and _meta on every request (MCP 2026-07-28)
	header    bool // MCP-Protocol-Version on what follows initialize (MCP 2025-06-18, transports)
	batches   bool // a server may send an array of messages (MCP 2025-03-26, base protocol)
}{
	{version: V20241105},
	{version: V20250326, batches: true},
	{version: V20250618, header: true},
	{version: V20251125, header: true},
	{version: V20260728, header: true, stateless: true},
}

// Every returns the versions in ascending order.
func Every() []Version {
	every := make([]Version, len(table))
	for i, row := range table {
		every[i] = row.version
	}
	return every
}

// Parse returns the version of that exact text.
func Parse(text string) (Version, bool) {
	for _, row := range table {
		if string(row.version) == text {
			return row.version, true
		}
	}
	return "", false
}

// Stateless reports whether the version has no initialize: each request says
// by itself who asks.
func (v Version) Stateless() bool {
	for _, row := range table {
		if row.version == v {
			return row.stateless
		}
	}
	return false
}

// HasHeader reports whether requests over HTTP carry MCP-Protocol-Version: in
// a stateless version all of them, else those after initialize.
func (v Version) HasHeader() bool {
	for _, row := range table {
		if row.version == v {
			return row.header
		}
	}
	return false
}

// HasBatches reports whether a server may send several messages as one array.
func (v Version) HasBatches() bool {
	for _, row := range table {
		if row.version == v {
			return row.batches
		}
	}
	return false
}
