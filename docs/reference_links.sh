#!/bin/bash
# Prints a page for Doxygen, which resolves only links to pages of the reference: other links become their text.
exec sed -zE 's/\[([^]]*)\]\((#|\.\.\/\.\.\/|\.\.\/results\/)[^)]*\)/\1/g; s/(\]\([^)#]*\.md)#[^)]*\)/\1)/g' "$1"
