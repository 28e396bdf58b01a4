provider "aws" {
}
# error 1:1 Unsupported block type
