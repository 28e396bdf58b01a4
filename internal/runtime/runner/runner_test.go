package runner

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
)

func TestLog_KeepsHeadAndTail(t *testing.T) {
	for _, chunk := range []int{1, 3, 7, 100} {
		for size := range 64 {
			var all []byte
			for i := range size {
				all = append(all, byte('a'+i%26))
			}
			l := NewLog(20)
			for rest := all; len(rest) > 0; {
				k := min(chunk, len(rest))
				if n, err := l.Write(rest[:k]); n != k || err != nil {
					t.Fatalf("Write gave %d, %v", n, err)
				}
				rest = rest[k:]
			}
			want := all
			if size > 20 {
				want = fmt.Appendf(nil, "%s\n[... %d bytes left out ...]\n%s", all[:10], size-20, all[size-10:])
			}
			if !bytes.Equal(l.Bytes(), want) {
				t.Fatalf("size %d in chunks of %d: got %q, want %q", size, chunk, l.Bytes(), want)
			}
		}
	}
}

func TestCommand_FollowsDockersRules(t *testing.T) {
	ep, cmd := []string{"/ep", "x"}, []string{"cmd"}
	for _, c := range []struct {
		s       Spec
		ep, cmd []string
		want    []string
	}{
		{Spec{}, ep, cmd, []string{"/ep", "x", "cmd"}},
		{Spec{}, nil, cmd, []string{"cmd"}},
		{Spec{Args: []string{"a", "b"}}, ep, cmd, []string{"/ep", "x", "a", "b"}},
		{Spec{Entrypoint: "/other"}, ep, cmd, []string{"/other"}},
		{Spec{Entrypoint: "/other", Args: []string{"a"}}, ep, cmd, []string{"/other", "a"}},
		{Spec{Args: []string{"a"}}, nil, nil, []string{"a"}},
	} {
		got, err := c.s.Command(c.ep, c.cmd)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v with %q %q: got %q, %v; want %q", c.s, c.ep, c.cmd, got, err, c.want)
		}
	}
	if argv, err := (Spec{}).Command(nil, nil); err == nil {
		t.Errorf("nothing to run gave %q", argv)
	}
}
