package runner

import (
	"strings"
	"testing"
)

func TestClusterPath_IsCheckedByForm(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]ClusterPath{"/secret/gcp-sa/key.json": {"secret", "gcp-sa", "key.json"},
		"/secret/gcp-sa": {"secret", "gcp-sa", ""}, "/configmap/a.b/C_d": {"configmap", "a.b", "C_d"}, "/pvc/data": {"pvc", "data", ""},
		"/pvc/data/a b/c": {"pvc", "data", "a b/c"}} {
		if got, err := ParseClusterPath(path); err != nil || got != want || got.Writable() != strings.HasPrefix(path, "/pvc") {
			t.Errorf("%s: %+v, %v", path, got, err)
		}
	}
	for path, want := range map[string]string{"/etc": "/etc is a path of a machine", "": "is a path of a machine", "secret/x": "is a path of",
		"/secret": "write /secret/NAME", "/secret/": "write /secret/NAME", "/secret/A": "write /secret/NAME", "/configmap/a/b/c": "write /configmap/a/KEY",
		"/secret/a/..": "not a part of secret a", "/secret/a/b c": "not a part", "/pvc/a/../b": "not a part", "/secret/a..b": "write /secret/NAME",
		"/secret/a.-b": "write /secret/NAME", "/secret/a/..data": "not a part", "/secrets/a": "is a path of a machine"} {
		if got, err := ParseClusterPath(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %q", path, got, err, want)
		}
	}
}
