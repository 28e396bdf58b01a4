package place

import (
	"encoding/json"
	"fmt"
)

// Mark is the content of the file that replaces a state file that was moved.
type Mark struct {
	Format  int    `json:"format"`
	MovedTo string `json:"moved_to"`
}

// Bytes returns the content of the file.
func (m Mark) Bytes() []byte {
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Appendf(nil, "%q", m.MovedTo) // a text is always JSON
	}
	return append(text, '\n')
}
