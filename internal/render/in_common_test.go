package render

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/protocol"
)

// matrixOf has a session for each entry, version and profile, in the run's
// order.
func matrixOf(entries []name.Name, protocols []protocol.Version, profiles []profile.Profile) observe.Matrix {
	var all []observe.Observation
	for _, e := range entries {
		for _, v := range protocols {
			for _, p := range profiles {
				all = append(all, observe.Observation{Session: observe.Session{Entry: e, Protocol: v, Profile: p}})
			}
		}
	}
	return observe.NewMatrix(all)
}

func TestInCommon(t *testing.T) {
	t.Parallel()
	full, ro := []name.Name{"full", "read-only"}, name.Name("read-only")
	both := []protocol.Version{protocol.V20250618, protocol.V20260728}
	every := profile.Every()
	in := func(e name.Name, v protocol.Version, profiles ...profile.Profile) func(observe.Session) bool {
		return func(s observe.Session) bool {
			ok := len(profiles) == 0
			for _, p := range profiles {
				ok = ok || s.Profile == p
			}
			return ok && (e == "" || s.Entry == e) && (v == "" || s.Protocol == v)
		}
	}
	either := func(a, b func(observe.Session) bool) func(observe.Session) bool {
		return func(s observe.Session) bool { return a(s) || b(s) }
	}
	not := func(a func(observe.Session) bool) func(observe.Session) bool {
		return func(s observe.Session) bool { return !a(s) }
	}
	many := matrixOf(full, both, every)
	for _, c := range []struct {
		m    observe.Matrix
		has  func(observe.Session) bool
		want string
	}{
		{many, in("", ""), "every session"},
		{many, not(in("", "")), "no session"},
		{many, in(ro, ""), "entry read-only: every session"},
		{many, in("", protocol.V20260728), "2026-07-28: every session"},
		{many, in("", "", "none", "roots"), "profile none, roots: every session"},
		{many, in(ro, protocol.V20260728), "entry read-only, 2026-07-28: every session"},
		{many, in(ro, "", "none"), "entry read-only: none"},
		{many, in(ro, protocol.V20250618, "none", "roots"), "entry read-only, 2025-06-18: none, roots"},
		{many, either(in(ro, ""), in("", protocol.V20260728)), "every session except entry full, 2025-06-18"},
		{matrixOf([]name.Name{"full", "lite", ro}, protocol.Every()[2:], every), either(in(ro, ""), in("", protocol.V20260728)), "2026-07-28: every session; entry read-only: every session"},
		{many, either(in(ro, protocol.V20250618, "none"), in("full", protocol.V20260728, "all")), "entry full, 2026-07-28: all; entry read-only, 2025-06-18: none"},
		{many, not(in(ro, protocol.V20260728, "none")), "every session except entry read-only, 2026-07-28: none"},
		{many, not(in(ro, protocol.V20260728)), "every session except entry read-only, 2026-07-28"},
		{matrixOf([]name.Name{"a", "b", "c"}, both[:1], every), not(in("c", "")), "entry a, entry b: every session"},
		{matrixOf([]name.Name{""}, both, every), in("", protocol.V20260728), "2026-07-28: every session"},
		{matrixOf([]name.Name{"only"}, both[:1], every), in("", "", "none", "all"), "none, all"},
		{matrixOf([]name.Name{""}, both[:1], every), in("", ""), "none, roots, sampling, elicitation, all"},
		{matrixOf([]name.Name{""}, both[:1], every[:1]), not(in("", "")), "no selected profile"},
	} {
		var set observe.Set
		for i, o := range c.m.Observations {
			if c.has(o.Session) {
				set = set.With(i)
			}
		}
		if got := InCommon(c.m, set); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// meant reads what was said back into the set.
func meant(t *testing.T, m observe.Matrix, said string) observe.Set {
	t.Helper()
	if said == "no session" {
		return 0
	}
	if said == everySession {
		return m.Everyone()
	}
	if rest, ok := strings.CutPrefix(said, everySession+" except "); ok {
		return m.Everyone() &^ meant(t, m, rest)
	}
	var set observe.Set
	for part := range strings.SplitSeq(said, "; ") {
		head, tail, _ := strings.Cut(part, ": ")
		var entries, versions, profiles []string
		if rest, ok := strings.CutPrefix(head, "profile "); ok {
			profiles, head = strings.Split(rest, ", "), ""
		} else if tail != everySession && tail != "" {
			profiles = strings.Split(tail, ", ")
		}
		for word := range strings.SplitSeq(head, ", ") {
			if entry, ok := strings.CutPrefix(word, "entry "); ok {
				entries = append(entries, entry)
			} else if word != "" {
				versions = append(versions, word)
			}
		}
		has := func(list []string, value string) bool {
			for _, one := range list {
				if one == value {
					return true
				}
			}
			return len(list) == 0
		}
		for i, o := range m.Observations {
			if has(entries, string(o.Session.Entry)) && has(versions, string(o.Session.Protocol)) && has(profiles, string(o.Session.Profile)) {
				set = set.With(i)
			}
		}
	}
	return set
}

// What is said of any set is just that set, also where the run has not each
// combination and where an entry's label looks like a version.
func TestInCommonIsExact(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	labels := []name.Name{"a", "2026-07-28", "none", "read-only", "every", "b.c", "d:", "e", "f", "g", "h", "i"}
	for range 3000 {
		entries := labels[:2+random.IntN(5)]
		if random.IntN(10) == 0 {
			entries = labels
		}
		versions := protocol.Every()[random.IntN(4):]
		m := matrixOf(entries, versions, profile.Every()[random.IntN(4):])
		if random.IntN(3) == 0 {
			kept := m.Observations[:0:0]
			for _, o := range m.Observations {
				if random.IntN(4) > 0 {
					kept = append(kept, o)
				}
			}
			if m = observe.NewMatrix(kept); len(kept) == 0 || newSessions(m).profilesOnly() {
				continue
			}
		}
		if len(m.Observations) > observe.MaxSessions {
			continue
		}
		set := observe.Set(random.Uint64()) & m.Everyone()
		switch random.IntN(3) {
		case 0:
			set |= observe.Set(random.Uint64()) | observe.Set(random.Uint64())
			set &= m.Everyone()
		case 1:
			set &= observe.Set(random.Uint64()) & observe.Set(random.Uint64())
		}
		said := InCommon(m, set)
		if got := meant(t, m, said); got != set {
			t.Fatalf("%q means %b, want %b", said, got, set)
		}
	}
}
