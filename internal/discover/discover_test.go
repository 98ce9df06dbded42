package discover

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/mcpeval-guidance/internal/crash"
	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/options"
	"github.com/org/mcpeval-guidance/internal/profile"
)

// A URL is one server: one session after another, unless --jobs says otherwise.
// The first begins alone in any case; no more run than may.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	for jobs, most := range map[int]int{0: 1, 1: 1, 2: 2, 3: 3, 5: 5} {
		t.Run(fmt.Sprint(jobs), func(t *testing.T) {
			t.Parallel()
			p := &peer{says: func(int, string) answer { return answer{} }}
			if most > 1 {
				p.together = most
			}
			observations, err := newRun(jobs, options.Entry{Endpoint: p.listen(t)}).Observe(t.Context())
			if err != nil || p.most != most {
				t.Errorf("%d at the same time, not %d; %v", p.most, most, err)
			}
			if letters := p.initials(0); len(letters) != 5 || letters[0] != 'n' || most == 1 && letters != "nrsea" {
				t.Errorf("sessions of %s", letters)
			}
			for i, o := range observations {
				if o.Session.Profile != profile.Every()[i] || !o.Complete() {
					t.Errorf("%+v", o)
				}
			}
		})
	}
}

// TestSeenAgain: no finding rests on one look (CONTRACT.md section 4.5).
func TestSeenAgain(t *testing.T) {
	t.Parallel()
	// with lists b in the sessions of these numbers.
	with := func(b func(n int, who string) bool) func(int, string) answer {
		return func(n int, who string) answer {
			if b(n, who) {
				return answer{tools: "b"}
			}
			return answer{}
		}
	}
	always := func(_ int, who string) answer {
		return with(func(int, string) bool { return who == "all" })(0, who)
	}
	for _, row := range []struct {
		name     string
		jobs     int
		says     func(n int, who string) answer
		again    string // whose sessions came after the first round
		listing  string // b, at last
		unstable string
	}{
		{name: "no finding", says: with(func(int, string) bool { return true }), listing: "nrsea"},
		{name: "one after another", says: always, again: "n", listing: "a"},
		{name: "side by side", jobs: 5, says: always, again: "nr", listing: "a"},
		{name: "the first is not affected", says: with(func(_ int, who string) bool { return who == "none" }), listing: "n"},
		{name: "a first start lists less", says: with(func(n int, _ string) bool { return n > 0 }), again: "nnrsea", listing: "nrsea"},
		{name: "a first start lists less, side by side", jobs: 5, says: with(func(n int, _ string) bool { return n > 0 }), again: "nnrsea", listing: "nrsea"},
		{name: "less beside others", jobs: 5, says: with(func(n int, _ string) bool { return n == 0 || n > 4 }), again: "rnrsea", listing: "nrsea"},
		{name: "the first by turns", says: with(func(n int, who string) bool { return who != "none" || n == 5 }), again: "nnrsea", unstable: "n", listing: "rsea"},
		// Looks beside others are no looks alone: only r was seen twice alone.
		{name: "others by turns", jobs: 5, says: with(func(n int, who string) bool { return who == "none" || n == 5 }), again: "rnrsea", unstable: "r", listing: "n"},
		{name: "other instructions each time", says: func(n int, who string) answer {
			a := always(n, who)
			a.instructions = fmt.Sprint(n)
			return a
		}, again: "nnrsea", unstable: "nrsea"},
		{name: "a description names another tool", says: func(n int, who string) answer {
			a := always(n, who)
			if n == 5 {
				a.description = "see `other_tool`"
			}
			return a
		}, again: "nnrsea", unstable: "n", listing: "a"},
		// A catalog is a set: servers list it in the order of a map.
		{name: "another order", jobs: 5, says: func(n int, who string) answer {
			a := answer{tools: "c d", backwards: n > 4, description: "see `d`"}
			if who == "all" {
				a.tools += " b"
			}
			return a
		}, again: "nr", listing: "a"},
		{name: "the second look fails", says: func(n int, who string) answer {
			if n == 5 {
				return answer{status: 500}
			}
			return always(n, who)
		}, again: "nnrsea", listing: "a"},
		{name: "refused beside others", jobs: 5, says: func(n int, _ string) answer {
			if n > 0 && n < 5 {
				return answer{status: 500}
			}
			return answer{tools: "b"}
		}, again: "rsea", listing: "nrsea"},
		// What was seen alone already is not doubted: only the first is.
		{name: "refused beside others, then a finding", jobs: 5, says: func(n int, who string) answer {
			if n > 0 && n < 5 {
				return answer{status: 500}
			}
			return always(n, who)
		}, again: "rsean", listing: "a"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := &peer{says: row.says, together: row.jobs}
			r := newRun(row.jobs, options.Entry{Endpoint: p.listen(t)})
			observations, err := r.Observe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if again := p.initials(5); again != row.again || r.Looks() != 5+len(again) {
				t.Errorf("seen again: %q, not %q; %d looks", again, row.again, r.Looks())
			}
			listing, unstable := "", ""
			for _, o := range observations {
				letter := string(o.Session.Profile[:1])
				switch {
				case o.Diagnosis != nil && o.Diagnosis.Code == diagnosis.CatalogUnstable:
					unstable += letter
				case o.Diagnosis != nil:
					t.Errorf("%s: %+v", o.Session.Profile, o.Diagnosis)
				case slices.Contains(o.Tools, "b"):
					listing += letter
				}
			}
			if listing != row.listing || unstable != row.unstable {
				t.Errorf("b is listed for %q, not %q; unstable %q, not %q", listing, row.listing, unstable, row.unstable)
			}
		})
	}
}

// Who failed alone is not run again, and nothing is said of neighbours: case 25
// where it failed beside others first.
func TestFailsAlone(t *testing.T) {
	t.Parallel()
	for jobs, looks := range map[int]int{0: 5, 1: 5, 5: 9} {
		p := &peer{says: func(int, string) answer { return answer{status: 500} }}
		if jobs == 5 {
			p.together = 5
		}
		r := newRun(jobs, options.Entry{Endpoint: p.listen(t)})
		observations, err := r.Observe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r.Looks() != looks {
			t.Errorf("--jobs %d: %d looks, not %d", jobs, r.Looks(), looks)
		}
		for _, o := range observations {
			if o.Diagnosis == nil || o.Diagnosis.Code != diagnosis.HTTPStatus || o.Diagnosis.When&diagnosis.Beside != 0 {
				t.Errorf("--jobs %d, %s: %+v", jobs, o.Session.Profile, o.Diagnosis)
			}
		}
	}
}

// Who timed out beside others is not waited for twice, and the advice may speak
// of them.
func TestTimesOutBeside(t *testing.T) {
	t.Parallel()
	p := &peer{together: 6, says: func(int, string) answer { return answer{} }} // the sixth never comes
	r := newRun(5, options.Entry{Endpoint: p.listen(t)})
	r.Timing.Timeout = time.Second
	observations, err := r.Observe(t.Context())
	if err != nil || r.Looks() != 5 {
		t.Fatalf("%d looks, %v", r.Looks(), err)
	}
	for _, o := range observations {
		if o.Diagnosis == nil || o.Diagnosis.Code != diagnosis.Timeout || o.Diagnosis.When&diagnosis.Beside == 0 {
			t.Errorf("%s: %+v", o.Session.Profile, o.Diagnosis)
		}
	}
}

// TestMayBeCrowding: only these are done again, alone (CONTRACT.md section
// 4.5); a timeout would be waited for twice, and malformed data is malformed.
func TestMayBeCrowding(t *testing.T) {
	t.Parallel()
	refused := diagnosis.Detail{ErrorAnswer: true}
	plain := []diagnosis.Code{diagnosis.TransportClosed, diagnosis.ConnectionRefused, diagnosis.InitializeError, diagnosis.HTTPStatus}
	for _, entry := range diagnosis.Entries() {
		for _, stage := range []diagnosis.Stage{diagnosis.Initialize, diagnosis.Discover, diagnosis.ToolsList} {
			for _, detail := range []diagnosis.Detail{{}, refused} {
				want := slices.Contains(plain, entry.Code) || detail == refused && (entry.Code == diagnosis.CatalogError || stage == diagnosis.Discover)
				if got := mayBeCrowding(&diagnosis.Diagnosis{Code: entry.Code, Stage: stage, Detail: detail}); got != want {
					t.Errorf("%s at %s, error answer %v: %v", entry.Code, stage, detail.ErrorAnswer, got)
				}
			}
		}
	}
}

// An interrupt ends the run at any look: those that come later have none.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, jobs := range []int{0, 5} {
		for at := range 11 {
			t.Run(fmt.Sprint(jobs, "/", at), func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				p := &peer{together: jobs, says: func(n int, _ string) answer {
					if n == 0 {
						return answer{}
					}
					return answer{tools: "b"}
				}}
				p.began = func(n int) {
					if n == at {
						cancel()
					}
				}
				observations, err := newRun(jobs, options.Entry{Endpoint: p.listen(t)}).Observe(ctx)
				if !errors.Is(err, context.Canceled) || observations != nil {
					t.Errorf("%v, %d observations", err, len(observations))
				}
				if n := p.count(); n > at+1 && (jobs == 0 || at == 0 || at > 4) {
					t.Errorf("%d sessions began, interrupted in number %d", n, at)
				}
			})
		}
	}
}

// A panic beside others reaches the caller, with our functions and lines.
func TestPanic(t *testing.T) {
	t.Parallel()
	p := &peer{says: func(int, string) answer { return answer{} }}
	r := newRun(5, options.Entry{Endpoint: p.listen(t)})
	r.Progress = func(s observe.Session, o *observe.Observation) {
		if s.Profile == profile.Sampling && o != nil {
			panic("c4n4ry")
		}
	}
	defer func() {
		c := crash.Recovered(recover())
		if c == nil || !strings.Contains(c.String(), "internal/discover.(*Run).look (discover.go:") || strings.Contains(c.String(), "c4n4ry") {
			t.Errorf("recovered %v", c)
		}
	}()
	r.Observe(t.Context())
	t.Error("no panic")
}

// stdioEntry is a configuration whose server notes its events in a file.
func stdioEntry(t *testing.T, label, events string) options.Entry {
	t.Helper()
	return options.Entry{Label: name.Name(label), Launch: command(t, "serves", eventsVar+"="+events, labelVar+"="+label)}
}

// The first session of each configuration starts alone, one after another; a
// URL among them gets one session after another, whoever else runs.
func TestEntries(t *testing.T) {
	t.Parallel()
	events := filepath.Join(t.TempDir(), "events")
	p := &peer{says: func(int, string) answer { return answer{} }}
	r := newRun(0, options.Entry{Label: "url", Endpoint: p.listen(t)}, stdioEntry(t, "one", events), stdioEntry(t, "two", events))
	r.Profiles = []profile.Profile{profile.None, profile.Roots, profile.All}
	observations, err := r.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, o := range observations {
		order = append(order, fmt.Sprint(o.Session.Entry, " ", o.Session.Profile, " ", o.Complete()))
	}
	if diff := cmp.Diff([]string{
		"url none true", "url roots true", "url all true", "one none true", "one roots true", "one all true", "two none true", "two roots true", "two all true",
	}, order); diff != "" {
		t.Error(diff)
	}
	happened := lines(t, events)
	if diff := cmp.Diff([]string{"one starts", "one answers", "two starts", "two answers"}, slices.DeleteFunc(happened, func(event string) bool {
		return strings.HasSuffix(event, "ends")
	})[:4]); diff != "" {
		t.Error(diff)
	}
	if p.most != 1 || p.initials(0) != "nra" {
		t.Errorf("the URL had %d sessions at the same time, of %s", p.most, p.initials(0))
	}
}

// With --jobs 1 each server is gone before the next starts, and between them
// is swept: never while one runs.
func TestSweep(t *testing.T) {
	t.Parallel()
	events := filepath.Join(t.TempDir(), "events")
	r := newRun(1, stdioEntry(t, "one", events), stdioEntry(t, "two", events))
	r.Profiles = []profile.Profile{profile.None, profile.All}
	sweeps := 0
	r.Sweep = func() {
		sweeps++
		if last := lines(t, events); !strings.HasSuffix(last[len(last)-1], "ends") {
			t.Errorf("swept after %q", last)
		}
	}
	if _, err := r.Observe(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := slices.Concat(slices.Repeat([]string{"one starts", "one answers", "one ends"}, 2), slices.Repeat([]string{"two starts", "two answers", "two ends"}, 2))
	if diff := cmp.Diff(want, lines(t, events)); diff != "" || sweeps != 4 {
		t.Errorf("%d sweeps; %s", sweeps, diff)
	}
}

// A URL's server is none of ours.
func TestSweepSparesURLs(t *testing.T) {
	t.Parallel()
	p := &peer{says: func(int, string) answer { return answer{} }}
	r := newRun(1, options.Entry{Endpoint: p.listen(t)})
	var sweeps atomic.Int32
	r.Sweep = func() { sweeps.Add(1) }
	if _, err := r.Observe(t.Context()); err != nil || sweeps.Load() != 0 {
		t.Errorf("%d sweeps, %v", sweeps.Load(), err)
	}
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}
