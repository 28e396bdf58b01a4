//go:build kube

package kubenode_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"deployster/internal/testkit/kubenode"
)

// node is the cluster of all tests.
var node *kubenode.Node

func TestMain(m *testing.M) {
	os.Exit(kubenode.Main(started{m}))
}

// started are the tests, with a node.
type started struct{ *testing.M }

func (s started) Run() int {
	var err error
	if node, err = kubenode.Boot(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := s.M.Run()
	if err := node.End(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
