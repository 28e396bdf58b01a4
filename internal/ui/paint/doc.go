// Package paint owns colours and the cells of a terminal. Texts come in, texts go out: with
// marks, which become colours or nothing where a text is printed, and cut, filled or wrapped
// to a number of cells. It knows nothing of what the texts are about.
package paint
