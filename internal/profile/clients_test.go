package profile

import "testing"

// Each profile has a client, no client stands twice, and no name could be
// read as anything but words.
func TestClients(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	check := func(where string, clients []string) {
		if len(clients) == 0 {
			t.Errorf("%s has no client", where)
		}
		for _, client := range clients {
			if seen[client] {
				t.Errorf("%s stands twice", client)
			}
			seen[client] = true
			for _, c := range client {
				if c < ' ' || c > '~' || c == ',' || c == '|' || c == '`' {
					t.Errorf("%q in %s", c, client)
				}
			}
		}
	}
	for _, p := range Every() {
		check(string(p), p.Clients())
		p.Clients()[0] = "changed"
		if p.Clients()[0] == "changed" {
			t.Errorf("the clients of %s can be changed", p)
		}
	}
	for _, m := range MixedClients() {
		check("a mixed set", m.Clients)
		if len(m.Capabilities) < 2 || len(m.Capabilities) == 3 {
			t.Errorf("%v is what a profile has", m.Capabilities)
		}
	}
}
