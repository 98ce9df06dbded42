package profile

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The table of CONTRACT.md section 4.1, in report order.
func TestProfiles(t *testing.T) {
	t.Parallel()
	want := []struct {
		profile      Profile
		capabilities string
		roots        bool
	}{
		{"none", `{}`, false},
		{"roots", `{"roots": {"listChanged": false}}`, true},
		{"sampling", `{"sampling": {}}`, false},
		{"elicitation", `{"elicitation": {}}`, false},
		{"all", `{"roots": {"listChanged": false}, "sampling": {}, "elicitation": {}}`, true},
	}
	every := Every()
	if len(every) != len(want) {
		t.Fatalf("%d profiles", len(every))
	}
	for i, row := range want {
		if every[i] != row.profile {
			t.Errorf("profile %d is %s, want %s", i, every[i], row.profile)
		}
		if got, ok := Parse(string(row.profile)); !ok || got != row.profile {
			t.Errorf("Parse(%s) = %s, %v", row.profile, got, ok)
		}
		if got := row.profile.DeclaresRoots(); got != row.roots {
			t.Errorf("%s declares roots: %v", row.profile, got)
		}
		var got, expected any
		if err := json.Unmarshal([]byte(row.profile.Capabilities(false)), &got); err != nil {
			t.Errorf("%s: %v", row.profile, err)
		}
		if err := json.Unmarshal([]byte(row.capabilities), &expected); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(expected, got); diff != "" {
			t.Errorf("%s: %s", row.profile, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "None", "ALL", " none", "none ", "tools", "none,all"} {
		if got, ok := Parse(name); ok || got != "" {
			t.Errorf("Parse(%q) = %q, %v", name, got, ok)
		}
	}
}

func TestEveryIsACopy(t *testing.T) {
	t.Parallel()
	Every()[0] = "x"
	if got := Every()[0]; got != None {
		t.Errorf("the table changed: %s", got)
	}
}
