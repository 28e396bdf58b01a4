package place

import (
	"encoding/json"
	"fmt"
)

// Mark is what lies where a state in a file was.
type Mark struct {
	Format  int    `json:"format"`
	MovedTo string `json:"moved_to"`
}

// Bytes are those of the file.
func (m Mark) Bytes() []byte {
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Appendf(nil, "%q", m.MovedTo) // a text is always JSON
	}
	return append(text, '\n')
}
