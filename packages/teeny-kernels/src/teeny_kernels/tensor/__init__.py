"""Operations that move elements: the layout of channels, images made larger."""
