package text

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// BlockConfig is what a user writes about a block of lines.
type BlockConfig struct {
	Path    string `json:"path" pattern:"^/" deployster:"identity"`
	ID      string `json:"id" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]*$" deployster:"identity"`
	Content string `json:"content"`
	Comment string `json:"comment" default:"#"`
	Place
	Validate []string `json:"validate,omitempty"`
}

var blockDocs = placeDocs(map[string]string{
	"id":      "The name of the block, which its first and last line hold.",
	"content": "The text between them. A newline at its end makes no difference.",
	"comment": "What begins a comment in this file, such as # or //. For comments that need an end: both, with a blank, as in <!-- -->.",
})

// BlockState is what exists.
type BlockState struct {
	Content string `json:"content" doc:"the text of the block"`
	Comment string `json:"comment" doc:"what begins its first and its last line"`
}

type blockCall = protocol.Call[BlockConfig, BlockState]

// Block is the kind of marked blocks of lines.
type Block struct{ Machine *access.Machine }

// NewBlock returns the kind text_block.
func NewBlock(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Block{m}, protocol.About{Label: "Text block", Kind: "linux/text_block", Worker: true, Unknowns: true,
		AutoEdges: edges(), Docs: blockDocs})
}

// marks returns the first and the last line of the block.
func marks(c BlockConfig) (begin, end string) {
	open, tail, _ := strings.Cut(c.Comment, " ")
	if tail != "" {
		tail = " " + tail
	}
	return open + " BEGIN deployster " + c.ID + tail, open + " END deployster " + c.ID + tail
}

// mark matches the first or the last line of a block, whatever begins a comment there: one
// that was made with another comment is the same block.
func mark(word, id string) *regexp.Regexp {
	return regexp.MustCompile(`^(\S+) ` + word + ` deployster ` + regexp.QuoteMeta(id) + `(?: (\S+))?$`)
}

// lines returns the content as lines.
func lines(content string) (list []string) {
	for _, l := range parse(content) {
		list = append(list, strings.TrimSuffix(l.text, "\r")) // of a last line without a newline
	}
	return list
}

// comment matches what may begin, and end, a comment.
var comment = regexp.MustCompile(`^\S+( \S+)?$`)

func (b Block) check(c *blockCall) (textFile, error) {
	f, err := openText(b.Machine, c.Config.Path)
	err = errors.Join(err, c.Config.check(), replace.CheckValidate(c.Config.Validate))
	switch list := lines(c.Config.Content); {
	case err != nil:
	case !comment.MatchString(c.Config.Comment):
		err = protocol.Errorf(protocol.ConfigError, "/comment", "%q does not begin a comment", c.Config.Comment)
	case slices.ContainsFunc(list, mark("BEGIN", c.Config.ID).MatchString), slices.ContainsFunc(list, mark("END", c.Config.ID).MatchString):
		err = protocol.Errorf(protocol.ConfigError, "/content",
			"a line of the content is the first or the last line of a block with the id %s",
			c.Config.ID)
	}
	return f, err
}

// block returns the numbers of the first and the last line of the block; -1 = there is none.
func block(c BlockConfig, d document) (from, to int, err error) {
	begins, ends := d.find(mark("BEGIN", c.ID).MatchString), d.find(mark("END", c.ID).MatchString)
	switch {
	case len(begins) == 0 && len(ends) == 0:
		return -1, -1, nil
	case len(begins) > 1:
		return 0, 0, protocol.Errorf(protocol.ConfigError, "/id",
			"the file has the block %s more than once, in lines %s: remove all but one",
			c.ID, numbered(begins))
	case len(begins) == 1 && len(ends) == 1 && begins[0] < ends[0]:
		return begins[0], ends[0], nil
	}
	return 0, 0, protocol.Errorf(protocol.ConfigError, "/id",
		"the block %s is broken: it begins in lines [%s] and ends in lines [%s], and must have one first line before one last line",
		c.ID, numbered(begins), numbered(ends))
}

// Read returns the block, or nil.
func (b Block) Read(_ context.Context, c *blockCall) (*BlockState, error) {
	f, err := b.check(c)
	if err != nil {
		return nil, err
	}
	d, exists, err := f.read()
	if err != nil || !exists {
		return nil, err
	}
	from, to, err := block(c.Config, d)
	if err != nil {
		return nil, err
	}
	if from < 0 {
		if c.Intent == protocol.Present {
			_, err = c.Config.in(d) // reports a place that does not exist
		}
		return nil, err
	}
	var list []string
	for _, l := range d[from+1 : to] {
		list = append(list, l.text)
	}
	state := &BlockState{Content: c.Config.Content, Comment: c.Config.Comment}
	if begin, _ := marks(c.Config); d[from].text != begin {
		words := mark("BEGIN", c.Config.ID).FindStringSubmatch(d[from].text)
		state.Comment = strings.TrimSpace(words[1] + " " + words[2])
	}
	if slices.Equal(list, lines(c.Config.Content)) {
		return state, nil
	}
	state.Content = strings.Join(list, "\n")
	if len(list) > 0 && (c.Config.Content == "" || strings.HasSuffix(c.Config.Content, "\n")) {
		state.Content += "\n"
	}
	return state, nil
}

// Plan adds that the file is missing.
func (b Block) Plan(_ context.Context, c *blockCall, have *BlockState) (*protocol.Plan, error) {
	plan, err := c.DefaultPlan(have)
	if plan == nil || err != nil || have != nil {
		return plan, err
	}
	f, err := openText(b.Machine, c.Config.Path)
	if err != nil {
		return nil, err
	}
	if _, exists, err := f.read(); err == nil && !exists {
		plan.Reasons = append(plan.Reasons, notYet(f.path))
	}
	return plan, nil
}

// Write adds the block, or replaces its content.
func (b Block) Write(ctx context.Context, c *blockCall) error {
	f, err := b.check(c)
	if err != nil {
		return err
	}
	begin, end := marks(c.Config)
	return f.edit(ctx, c.Config.Validate, func(d document) (document, error) {
		from, to, err := block(c.Config, d)
		if err != nil {
			return nil, err
		}
		whole := slices.Concat([]string{begin}, lines(c.Config.Content), []string{end})
		if from >= 0 {
			return d.splice(from, to-from+1, whole...), nil
		}
		at, err := c.Config.in(d)
		if err != nil {
			return nil, err
		}
		return d.splice(at, 0, whole...), nil
	})
}

// Delete removes the block.
func (b Block) Delete(ctx context.Context, c *blockCall) error {
	f, err := b.check(c)
	if err != nil {
		return err
	}
	if _, exists, err := f.read(); err != nil || !exists {
		return err
	}
	return f.edit(ctx, c.Config.Validate, func(d document) (document, error) {
		from, to, err := block(c.Config, d)
		if err != nil || from < 0 {
			return d, err
		}
		return d.splice(from, to-from+1), nil
	})
}

// Watch reports changes of the file.
func (b Block) Watch(ctx context.Context, c *blockCall, tell func(detail string)) error {
	if _, err := b.check(c); err != nil {
		return err
	}
	return files.WatchFollowed(ctx, b.Machine, c.Config.Path, tell)
}
