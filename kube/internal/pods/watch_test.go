package pods

import (
	"testing"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// version returns a version of a Pod, which all have one name.
func version(uid, version string) *core.Pod {
	return &core.Pod{ObjectMeta: meta.ObjectMeta{Name: "pod", UID: types.UID(uid), ResourceVersion: version}}
}

// A watch is slower than the calls that create Pods. What it reports of an earlier Pod, also its end, hides no later Pod of
// that name, and the end of the later one is seen.
func TestFollow_KeepsTheNewPodOfAName(t *testing.T) {
	p := New(nil, "", func(string) bool { return true }, DefaultTiming())
	p.Put(version("first", "8"))
	p.Put(version("second", "12"))
	for _, e := range []struct {
		pod  *core.Pod
		gone bool
		uid  types.UID
		over bool // afterwards
	}{
		{version("first", "9"), false, "second", false},
		{version("first", "11"), true, "second", false},
		{version("second", "12"), false, "second", false},
		{version("second", "100"), true, "second", true},
		{version("second", "99"), false, "second", true},
		{version("third", "101"), false, "third", false},
	} {
		p.put(e.pod, e.gone) // as follow does
		if s, _ := p.Get("pod"); s.Pod == nil || s.Pod.UID != e.uid || s.Gone != e.over {
			t.Errorf("after version %s of %s (its end: %t) it is %+v", e.pod.ResourceVersion, e.pod.UID, e.gone, s)
		}
	}
}

// What a watch reports late of a forgotten Pod does not bring it back. A call that returns it does, and so does a later Pod of that name.
func TestForget_IgnoresWhatComesLate(t *testing.T) {
	p := New(nil, "", func(string) bool { return true }, DefaultTiming())
	p.Put(version("first", "8"))
	p.Forget("pod")
	for _, gone := range []bool{false, true} {
		p.put(version("first", "9"), gone) // as follow does
		if s, _ := p.Get("pod"); s.Pod != nil {
			t.Errorf("its end %t: %+v", gone, s)
		}
	}
	p.Put(version("first", "10"))
	if s, _ := p.Get("pod"); s.Pod == nil {
		t.Error("it exists, and is ignored")
	}
	p.Forget("pod")
	p.put(version("second", "12"), false)
	if s, _ := p.Get("pod"); s.Pod == nil || s.Pod.UID != "second" {
		t.Errorf("the next Pod: %+v", s)
	}
}
