"""Operations on every element by itself: arithmetic, functions, activations."""
