package content

import (
	"encoding/json"
	"fmt"
	"testing"

	"deployster/internal/runtime/artifact"
)

func TestPasses_KeepsTheLastOfEachSource(t *testing.T) {
	t.Parallel()
	pass := func(line string, n int) Passed {
		return Passed{Line: line, Version: artifact.Version{"ref": fmt.Sprint(n)}}
	}
	list := Passes(nil, pass("b", 0))
	for n := range MaxPassed + 20 {
		list = Passes(list, pass("a", n))
	}
	list = Passes(list, pass("a", 30))
	if len(list) != MaxPassed+1 || !list[0].Is(pass("b", 0)) || !list[1].Is(pass("a", 20)) || !list[len(list)-1].Is(pass("a", 30)) {
		t.Errorf("%d: %v", len(list), list)
	}
}

func TestLine_DoesNotDependOnSecrets(t *testing.T) {
	t.Parallel()
	of := func(image, source string) string { return Line(image, json.RawMessage(source), []string{"/key"}) }
	line := of("git", `{"uri":"u","key":"a"}`)
	if line != of("git", `{ "key": "b", "uri": "u" }`) || line == of("git", `{"uri":"v","key":"a"}`) || line == of("other", `{"uri":"u","key":"a"}`) {
		t.Error(line)
	}
}
