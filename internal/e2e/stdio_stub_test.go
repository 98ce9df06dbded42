//go:build linux

package e2e

var cleanupBehaviours = map[string]behaviour{"sleeper": func(p *peer) { p.stall() }}

func sdkServer() {}
