package wire

import "encoding/json"

// Position is a place in a text. Character counts the units of UTF-16 in the line; both count from 0.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is a part of a text; End is the first position after it.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Location is a part of a file.
type Location struct {
	URI   string `json:"uri"`
	Range Range  `json:"range"`
}

// Initialize is the first request of a client.
type Initialize struct {
	ProcessID    *int     `json:"processId"`
	RootURI      string   `json:"rootUri"`
	Folders      []Folder `json:"workspaceFolders"`
	Capabilities struct {
		TextDocument struct {
			Completion struct {
				Item struct {
					Snippets bool `json:"snippetSupport"`
				} `json:"completionItem"`
			} `json:"completion"`
		} `json:"textDocument"`
		Workspace struct {
			Watched struct {
				Dynamic bool `json:"dynamicRegistration"`
			} `json:"didChangeWatchedFiles"`
		} `json:"workspace"`
	} `json:"capabilities"`
}

// Folder is a folder that is open in the editor.
type Folder struct {
	URI  string `json:"uri"`
	Name string `json:"name,omitempty"`
}

// FoldersChanged reports which folders were opened and closed.
type FoldersChanged struct {
	Event struct {
		Added   []Folder `json:"added"`
		Removed []Folder `json:"removed"`
	} `json:"event"`
}

// Document names a text, its version, and where the client knows it, the text.
type Document struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
	Text    string `json:"text"`
}

// Opened reports that the editor has a text.
type Opened struct {
	Document Document `json:"textDocument"`
}

// Changed reports how a text in the editor has changed.
type Changed struct {
	Document Document `json:"textDocument"`
	Changes  []Change `json:"contentChanges"`
}

// Change replaces a part of a text, or all of it where Range is nil.
type Change struct {
	Range *Range `json:"range"`
	Text  string `json:"text"`
}

// At is a request about a place.
type At struct {
	Document Document `json:"textDocument"`
	Position Position `json:"position"`
	NewName  string   `json:"newName"` // of a rename
	Context  struct {
		Declaration bool `json:"includeDeclaration"`
	} `json:"context"` // of references
}

// Actions queries what the editor can do about the diagnostics in a part of a text.
type Actions struct {
	Document Document `json:"textDocument"`
	Range    Range    `json:"range"`
	Context  struct {
		Diagnostics []Diagnostic `json:"diagnostics"`
		Only        []string     `json:"only"`
	} `json:"context"`
}

// Query reads the symbols of all folders.
type Query struct {
	Query string `json:"query"`
}

// Cancel ends a request.
type Cancel struct {
	ID json.RawMessage `json:"id"`
}

// Diagnostics are all diagnostics of a file.
type Diagnostics struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []Diagnostic `json:"diagnostics"` // never null
}

// The severities of diagnostics.
const (
	SeverityError   = 1
	SeverityWarning = 2
)

// Diagnostic is a problem.
type Diagnostic struct {
	Range    Range  `json:"range"`
	Severity int    `json:"severity"`
	Source   string `json:"source"`
	Message  string `json:"message"`
}

// TextEdit replaces a part of a text.
type TextEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// WorkspaceEdit changes files, by their URIs.
type WorkspaceEdit struct {
	Changes map[string][]TextEdit `json:"changes"`
}

// CodeAction is what the editor offers.
type CodeAction struct {
	Title       string        `json:"title"`
	Kind        string        `json:"kind"`
	Diagnostics []Diagnostic  `json:"diagnostics,omitempty"`
	Preferred   bool          `json:"isPreferred,omitempty"`
	Edit        WorkspaceEdit `json:"edit"`
}

// QuickFix is the kind of an action that mends a diagnostic.
const QuickFix = "quickfix"

// Markup is text for people.
type Markup struct {
	Kind  string `json:"kind"` // markdown
	Value string `json:"value"`
}

// Markdown returns a text as markdown; nil = there is none.
func Markdown(text string) *Markup {
	if text == "" {
		return nil
	}
	return &Markup{"markdown", text}
}

// Hover is what an editor shows about a place.
type Hover struct {
	Contents *Markup `json:"contents"`
	Range    *Range  `json:"range,omitempty"`
}

// Completions are what can stand at a place.
type Completions struct {
	Incomplete bool         `json:"isIncomplete"`
	Items      []Completion `json:"items"` // never null
}

// Completion is one text that can stand at a place.
type Completion struct {
	Label         string   `json:"label"`
	Kind          int      `json:"kind"`
	Detail        string   `json:"detail,omitempty"`
	Documentation *Markup  `json:"documentation,omitempty"`
	FilterText    string   `json:"filterText,omitempty"`
	Format        int      `json:"insertTextFormat"` // 1 = plain text, 2 = a snippet
	Edit          TextEdit `json:"textEdit"`
}

// Signature is the function whose arguments are being typed.
type Signature struct {
	Signatures []SignatureText `json:"signatures"`
	Active     int             `json:"activeSignature"`
	Parameter  int             `json:"activeParameter"`
}

// SignatureText is the form of a function.
type SignatureText struct {
	Label         string      `json:"label"`
	Documentation *Markup     `json:"documentation,omitempty"`
	Parameters    []Parameter `json:"parameters"`
}

// Parameter is one parameter of a function.
type Parameter struct {
	Label         string  `json:"label"`
	Documentation *Markup `json:"documentation,omitempty"`
}

// Symbol is a part of a file that has a name.
type Symbol struct {
	Name      string   `json:"name"`
	Kind      int      `json:"kind"`
	Range     Range    `json:"range"`
	Selection Range    `json:"selectionRange"`
	Children  []Symbol `json:"children,omitempty"`
}

// FoundSymbol is a symbol of a folder.
type FoundSymbol struct {
	Name     string   `json:"name"`
	Kind     int      `json:"kind"`
	Location Location `json:"location"`
}

// Prepared is what would be renamed.
type Prepared struct {
	Range       Range  `json:"range"`
	Placeholder string `json:"placeholder"`
}
