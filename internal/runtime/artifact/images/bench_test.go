package images

import (
	"bytes"
	"fmt"
	"testing"

	"deployster/internal/runtime/artifact"
)

// BenchmarkCheckLines reads 100,000 lines of one space.
func BenchmarkCheckLines(b *testing.B) {
	var answer bytes.Buffer
	for i := range 100_000 {
		fmt.Fprintf(&answer, `{"space":"main","version":{"ref":"%040d"},"metadata":[{"name":"author","value":"ann"}]}`+"\n", i)
	}
	b.ReportAllocs()
	for b.Loop() {
		l := newListed(artifact.CheckInput{Space: "main"})
		if err := eachLine(bytes.NewReader(answer.Bytes()), l.checkLine); err != nil || l.checked().Spaces["main"].Count != 100_000 {
			b.Fatal(err)
		}
	}
}
