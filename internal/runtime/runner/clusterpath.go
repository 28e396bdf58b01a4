package runner

import (
	"fmt"
	"strings"
)

// ClusterPath is the path of a plug in a cluster: an object of the namespace whose content a Pod sees.
type ClusterPath struct {
	Kind  string // secret, configmap or pvc
	Name  string // of the object
	Below string // a key of a secret or configmap, a directory of a pvc; "" = all
}

// Writable reports whether a Pod can write there.
func (p ClusterPath) Writable() bool { return p.Kind == "pvc" }

// The characters of names. No regular expressions: they would be a tenth of the agent of Pods.
const (
	digits    = "0123456789"
	small     = "abcdefghijklmnopqrstuvwxyz" + digits
	ofObjects = small + "-"
	ofKeys    = ofObjects + "._ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// has reports whether a text is not empty and has no other characters than these.
func has(text, characters string) bool { return text != "" && strings.Trim(text, characters) == "" }

// isObject reports whether a name may be that of an object.
func isObject(name string) bool {
	for part := range strings.SplitSeq(name, ".") {
		if !has(part, ofObjects) || !has(part[:1], small) || !has(part[len(part)-1:], small) {
			return false
		}
	}
	return len(name) <= 253
}

// ParseClusterPath parses the path of a plug: /secret/NAME, /configmap/NAME or /pvc/NAME, each with a part
// of it. It checks the form alone: whether the object exists is found out when a Pod starts.
func ParseClusterPath(path string) (ClusterPath, error) {
	kind, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	name, below, parted := strings.Cut(rest, "/")
	p := ClusterPath{kind, name, below}
	switch {
	case path == "" || path[0] != '/' || kind != "secret" && kind != "configmap" && kind != "pvc":
		return p, fmt.Errorf("in a cluster a plug is /secret, /configmap or /pvc. %s is a path of a machine", path)
	case !isObject(name):
		return p, fmt.Errorf("%s has no name of a %s: write /%s/NAME", path, kind, kind)
	}
	parts := strings.Split(below, "/")
	if p.Kind != "pvc" && len(parts) > 1 {
		return p, fmt.Errorf("%s is not a key of a %s: write /%s/%s/KEY", path, kind, kind, name)
	}
	for _, part := range parts {
		key := has(part, ofKeys) && !strings.HasPrefix(part, "..")
		if parted && (p.Kind != "pvc" && !key || part == "" || part == "." || part == "..") {
			return p, fmt.Errorf("%q is not a part of %s %s", part, kind, name)
		}
	}
	return p, nil
}
