# error 3:1 no providers

provider "aws" {
  region = "eu"
}
