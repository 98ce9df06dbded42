//go:build linux

package e2e

func scriptedServer() {}
func sdkServer()      {}
