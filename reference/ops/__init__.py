"""The Transformer in numpy float64: the definition that every score rests on.

Read the files in the order of the chapter; each holds one idea:

3.1  ``projection`` ``softmax`` ``attention``
3.2  ``variance`` ``jacobian``
3.3  ``visibility`` ``bias`` ``loss``
3.4  ``assignment1`` ``leak``
3.5  ``heads`` ``multihead``
3.6  ``ffn`` ``layernorm`` ``residual`` ``positions`` ``layers`` ``decoder_only``
     ``encoder_decoder``
3.7  ``teacher_forcing`` ``prefixes`` ``generation`` ``cache``
3.8  ``attention_backward`` ``layer_backward`` ``multihead_backward`` ``online_softmax``; counts are
     in ``reference.counts``

Rows are tokens and a weight maps from the left: ``X @ W`` with ``W: (in, out)``. ``visible`` is
boolean, True = may attend. A query that sees nothing gets weights 0 and output 0. Everything is
computed in float64, whatever comes in; no input is ever changed. Numbers have no unit unless
their docstring names one.
"""
